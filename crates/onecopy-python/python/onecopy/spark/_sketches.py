"""The sketches of a collection, in Parquet files ordered by set. An update reads only those of the sets it changes.

A task reads the names of all sets and the sizes of sketches, which are narrow columns, and then the sketches that it needs
at their places in the file. It uses pyarrow, if pyarrow knows the file system. Else Spark reads all sketches.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from . import _stages
from ._segments import Segments
from ._store import write_plain

# So many sets are looked for one by one.
SETS_TO_FIND = 1_000_000


def together(sketches: Any) -> Any:
    """The sketches with those of a set in one task, so that one row group of one file has them all."""
    return sketches.repartition("set")


def write(sketches: Any, path: str) -> None:
    """Writes sketches (`set`, `page`, `sketch`), each task its own in order."""
    write_plain(sketches.sortWithinPartitions("set"), "sketch", path)


def find(segments: Segments, sets: Any, count: int) -> Any:
    """The sketches of sets (`was`): `segment`, `page`, `sketch`. Some are of former versions of a page."""
    store, files = segments.store, []
    for number, part in enumerate(segments.parts):
        files += [(number, path) for path in store.files(part.tables, "sketches")]
    if count > SETS_TO_FIND or not can_open([path for _, path in files[:1]]):
        return scanned(segments, sets)
    import numpy

    wanted = numpy.sort(numpy.array([row[0] for row in sets.collect()], dtype=numpy.int64)).tobytes()
    run = _stages.find_sketches(store.spark.sparkContext.broadcast(wanted))
    paths = store.spark.createDataFrame(files, "segment int, path string")
    return paths.mapInArrow(run, f"segment int, page {segments.kind}, sketch binary")


def can_open(paths: list[str]) -> bool:
    """Whether pyarrow can read files of this file system."""
    import pyarrow
    from pyarrow import fs

    try:
        for path in paths:
            files, name = fs.FileSystem.from_uri(path)
            files.open_input_file(name).close()
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException):
        return False
    return True


def scanned(segments: Segments, sets: Any) -> Any:
    """As `find`, by reading all sketches."""
    return every(segments).join(sets.withColumnRenamed("was", "set"), "set", "left_semi").drop("set")


def every(segments: Segments) -> Any:
    """All sketches: `set`, `segment`, `page`, `sketch`."""
    found = None
    for number, part in enumerate(segments.parts):
        rows = segments.read("sketches", part.tables).select("set", F.lit(number).alias("segment"), "page", "sketch")
        found = rows if found is None else found.unionByName(rows)
    return found
