"""How common shingles are, from a sample of the pages. It decides which shingles are keys, never what is alike.

A sample tells common shingles from rare ones nearly as well as all pages, and takes one small job. With it, the pass that
appraises the pages makes their keys, too.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pyspark.sql.pandas.types import to_arrow_schema

from .. import _onecopy
from . import _passes
from ._blobs import batches, first_rows, made
from ._tables import rarity_merged

# One page in so many is looked at, and at least so many pages.
SHARE = 16
LEAST_PAGES = 4_000
# What a page is thought to have before any was seen: bytes, and words of its sketch.
PAGE_BYTES, PAGE_WORDS = 4_096, 1_024
# Files that Spark packs have about so many times as much text.
PACKED = 4
# A size above this is not known.
UNKNOWN = 1 << 50
# The driver adds up this many tables alone.
TABLES = 16
# The fewest counters, as a power of two.
LEAST_BITS = 12


class Sampled(NamedTuple):
    """How common shingles are, as bytes, and about how many words the sketches of all pages have."""

    rarity: bytes
    words: int


def sampled(frame: Any, plan: str, most_bits: int) -> Sampled:
    """Looks at the first pages of each task of a frame."""
    size, tasks = size_of(frame), frame._jdf.queryExecution().toRdd().getNumPartitions()
    pages = size // PAGE_BYTES if size < UNKNOWN else frame.count()
    rows = max(LEAST_PAGES, pages // SHARE)
    bits = min(most_bits, max(LEAST_BITS, (min(rows, pages) * PAGE_WORDS).bit_length()))
    head = first_rows(frame, -(-rows // max(tasks, 1)))
    tables = made(frame.sparkSession, batches(head), _passes.sample(to_arrow_schema(frame.schema), plan, bits))
    if tasks > TABLES:
        tables = tables.placed(TABLES).mapped(_passes.merge_tables())
    numbers, counts = rarity_merged(tables.collect())
    if counts is None:
        return Sampled(_onecopy.open_rarity(_onecopy.Rarity(LEAST_BITS)).to_bytes(), 0)
    if size < UNKNOWN:
        pages = max(numbers["pages"], size * numbers["pages"] // numbers["bytes"])
    return Sampled(_onecopy.open_rarity(counts).to_bytes(), pages * numbers["words"] // numbers["pages"])


def size_of(frame: Any) -> int:
    """The bytes of a frame's text, as far as Spark knows."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    size = int(str(plan.stats().sizeInBytes()))
    return size if re.search(r"\] (json|csv|text)\b", plan.toString()) else size * PACKED
