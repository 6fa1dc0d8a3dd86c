"""Merges the segments of a collection into one, so that updates do not read ever more files."""

from __future__ import annotations

from typing import Any, Callable

from pyspark.sql import functions as F

from . import _sketches
from ._segments import Segment, Segments
from ._store import measured, write_plain


def merge(segments: Segments, folder: str, keys_of: Callable[[Any], Any]) -> Segment:
    """Writes a segment with all that the others say, and nothing that they hide."""
    spark, path = segments.store.spark, lambda name: segments.store.path(folder, name)
    facts, counted = measured(segments.latest("facts"), F.count("page").alias("pages"))
    facts.drop("segment").write.parquet(path("facts"))
    sets = segments.latest("sets")
    for name, table in (("sets", sets), ("settled", segments.latest("settled")), ("pages", segments.latest("pages"))):
        table.write.parquet(path(name))
    for name in ("dead", "decided"):
        spark.createDataFrame([], segments.schema(name)).write.parquet(path(name))
    every = _sketches.every(segments).withColumnRenamed("segment", "of_segment")
    both = facts.where("reason is null").join(every, "page").where("of_segment >= segment").dropDuplicates(["page"])
    placed = both.join(sets.select("node", "component"), "node", "left")
    every = placed.select(F.coalesce("component", "node").alias("set"), "page", "sketch")
    _sketches.write(_sketches.together(every), path("sketches"))
    write_plain(keys_of(both), "keys", path("keys"))
    return Segment(folder, counted["pages"])
