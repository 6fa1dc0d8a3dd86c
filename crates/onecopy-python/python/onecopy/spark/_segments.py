"""Tables of a collection in segments. Each version adds a segment, and its rows hide older rows of the same page."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from pyspark.sql import functions as F

from ._decide import decisions_kind
from ._feed import pages_kind
from ._pages import NARROW
from ._tables import schema_of
from ._versions import Store

# The names in these tables of a segment hide older rows.
HIDES = {"facts": ["facts", "dead"], "sets": ["sets"], "settled": ["decided"], "pages": ["pages", "dead"]}
# So many names are sent to all executors, so that other rows need not move.
NAMES_TO_SEND = 1_000_000


class Segment(NamedTuple):
    """The folder of some tables, and how many pages it says something about."""

    tables: str
    pages: int


class Segments(NamedTuple):
    """The segments of a version, oldest first, for pages with names of this type."""

    store: Store
    parts: list[Segment]
    kind: str

    def schema(self, name: str) -> str:
        """The columns of a table. Spark need not look them up in its files."""
        return {
            "facts": f"page {self.kind}, {NARROW}",
            "dead": f"page {self.kind}",
            "keys": "part int, size int, keys binary",
            "sketches": f"set long, page {self.kind}, size int, sketch binary",
            "sets": "node long, component long, words long",
            "settled": decisions_kind(self.kind),
            "decided": f"page {self.kind}",
            "leads": f"page {self.kind}, target {self.kind}, revisit boolean, reason string, tested boolean",
            "pages": pages_kind(self.kind),
            "feed": f"{pages_kind(self.kind)}, before string",
        }[name]

    def arrow(self, name: str) -> Any:
        """The columns of a table, as pyarrow knows them."""
        return schema_of(self.schema(name))

    def read(self, name: str, *folders: str) -> Any:
        """A table of some folders."""
        paths = [self.store.path(folder, name) for folder in folders]
        return self.store.spark.read.schema(self.schema(name)).parquet(*paths)

    def every(self, name: str) -> Any:
        """A table of all segments, with rows that later ones hide."""
        return self.read(name, *(part.tables for part in self.parts))

    def latest(self, name: str, gone: Optional[Any] = None) -> Any:
        """The rows of a table that no later segment hides, and that are not `gone`. Facts know their `segment`."""
        key, found, hidden = "node" if name == "sets" else "page", None, 0
        for number, part in reversed([*enumerate(self.parts)]):
            rows = self.read(name, part.tables)
            if name == "facts":
                rows = rows.withColumn("segment", F.lit(number))
            if gone is not None:
                rows = rows.join(F.broadcast(gone) if hidden <= NAMES_TO_SEND else gone, key, "left_anti")
            found = rows if found is None else found.unionByName(rows)
            for other in HIDES[name]:
                names = self.read(other, part.tables).select(key)
                gone = names if gone is None else gone.union(names)
            hidden += part.pages
        return found
