"""The segment that an update with few pages writes."""

from __future__ import annotations

from typing import Any, Iterable, Optional

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet
from pyarrow import fs

from ... import _onecopy
from ..._onecopy import OnecopyError
from .._copy import DRAFTS
from .._segments import Segment
from .._tables import to_arrow
from .ranges import PLAIN
from .reading import packed, with_sizes
from .rows import beside, mapped, newest, values, within, without
from .sets import changed_sets, named
from .statuses import changes, statuses
from .tasks import Wanted, find, meet, put_sketches, settle

# The driver handles so many pages.
PAGES = 200_000
# What a task must know of a page besides its sketch.
FACTS = ["page", "node", "fingerprint", "rank", "identity", "flags", "reason"]


class SmallSegment:
    """One update, as `_collection.Update`: its pages and the segments before."""

    def __init__(self, update: Any, dead: Any) -> None:
        self.update, self.old, self.store = update, update.old, update.store
        self.kind = self.old.arrow("dead").field("page").type
        self.dead = dead

    def write(self) -> Optional[int]:
        """Writes all tables of the version, and returns how many pages they have. Nothing if this takes a cluster."""
        self._collect()
        self.gone = values(self.fresh["page"], self.dead)
        gone = Wanted("facts", ["page", "node", "reason"], "page", self.gone)
        before, edges = meet(self.old, gone, self.keys, self.update.plan)
        touched = values(*(rows.filter(compute.is_null(rows["reason"]))["node"] for rows in (self.fresh, before)))
        changed = changed_sets(self.old, edges, touched)
        if len(changed) > PAGES:
            return None
        pages, statuses_before = self._near(changed)
        changed = named(changed, pages)
        bins = self._bins(changed, pages)
        if bins is None:
            return None
        self._write_sketches(changed)
        segments = self.old._replace(parts=[*self.old.parts, Segment(self.update.tables, 0)])
        settled = settle(segments, bins, self.update.plan)
        self.store.delete(self.store.path(self.update.tables, DRAFTS))
        return self._write(changed, settled, statuses_before)

    def _collect(self) -> None:
        """Takes the facts and keys of fresh pages to the driver, and refuses two pages with one name."""
        fresh, keys = self.update.found.collected()
        schema = self.old.arrow("facts")
        self.fresh, self.keys = fresh.select(schema.names).cast(schema), keys
        counts = self.fresh.group_by("page").aggregate([("page", "count")])
        counts = counts.filter(compute.greater(counts["page_count"], 1)).sort_by("page")
        if len(counts):
            raise OnecopyError(self.update.repeated(counts["page"][0].as_py(), counts["page_count"][0].as_py()))

    def _near(self, changed: Any) -> tuple[Any, Any]:
        """The pages of the collection in changed sets, and the statuses of all pages that may get another."""
        (rows,) = find(self.old, Wanted("facts", FACTS, "node", changed["node"].combine_chunks()))
        rows = without(newest(rows.filter(compute.is_null(rows["reason"])), "page"), "page", self.gone)
        names = values(rows["page"], self.gone)
        # Nothing is older than the first segment.
        hiding = [Wanted(table, ["page"], "page", names, since=1) for table in ("facts", "dead")]
        facts, dead, was = find(self.old, *hiding, Wanted("pages", self.old.arrow("pages").names, "page", names))
        rows = unhidden(rows, facts, dead)
        return rows, unhidden(newest(was, "page"), dead).drop_columns(["segment"])

    def _bins(self, changed: Any, pages: Any) -> Optional[list[tuple[int, Any]]]:
        """The pages of each bin, with its words. Nothing if a set is too large for a task."""
        tuning, least = self.update.tuning, self.store.spark.sparkContext.defaultParallelism
        ones = pyarrow.array([1] * len(changed), pyarrow.int64())
        weighed = pyarrow.table([changed["node"], changed["component"], changed["words"], ones], ["node", "root", "words", "pages"])
        placed = pyarrow.table(_onecopy.set_bins(weighed, tuning.task_words, least))
        if placed["bin"].null_count:
            return None
        judged = self.fresh.filter(compute.is_null(self.fresh["reason"])).select(FACTS)
        segment = pyarrow.array([len(self.old.parts)] * len(judged), pyarrow.int32())
        near = pyarrow.concat_tables([pages, judged.append_column("segment", segment)])
        at = beside(changed, "node", near["node"].combine_chunks())
        near = near.append_column("set", at["component"]).append_column("words", at["words"]).append_column("was", at["was"])
        near = near.append_column("bin", beside(placed, "node", near["node"].combine_chunks())["bin"])
        bins = (within(near, "bin", pyarrow.array([number], pyarrow.int32())) for number in values(placed["bin"]).to_pylist())
        drawn = ((compute.sum(rows["words"]).as_py() or 0, rows.drop_columns(["words", "bin"])) for rows in bins)
        return [(words, rows) for words, rows in drawn if len(rows)]

    def _write_sketches(self, changed: Any) -> None:
        """Writes the sketches of fresh pages."""
        sent = self.store.spark.sparkContext.broadcast(packed(changed.select(["node", "component"])))
        folder = self.store.full(self.update.tables, "sketches")
        files, name = fs.FileSystem.from_uri(folder)
        files.create_dir(name, recursive=True)
        run = put_sketches(folder, sent)
        self.update.found.over_judged(["node", "page", "sketch"], run, "pages long").collect()
        sent.destroy()

    def _write(self, changed: Any, settled: Any, before: Any) -> int:
        """Writes all tables but the sketches."""
        table = statuses(settled, self.fresh)
        names = values(table["page"], self.dead)
        tables = {
            "facts": self.fresh,
            "dead": pyarrow.table({"page": self.dead}),
            "keys": with_sizes(self.keys, "keys"),
            "sets": changed.select(["node", "component", "words"]),
            "settled": settled,
            "decided": pyarrow.table({"page": values(settled["page"], self.gone)}),
            "leads": self.old.arrow("leads").empty_table(),
            "pages": table,
            "feed": changes(within(before, "page", names), table),
        }
        files, folder = fs.FileSystem.from_uri(self.store.full(self.update.tables))
        for name, rows in tables.items():
            files.create_dir(f"{folder}/{name}", recursive=True)
            schema, style = self.old.arrow(name), PLAIN if name == "keys" else {}
            rows = rows.select(schema.names).cast(schema)
            pyarrow.parquet.write_table(rows, f"{folder}/{name}/rows.parquet", filesystem=files, **style)
        return len(table)


def unhidden(rows: Any, *others: Any) -> Any:
    """The rows of pages that no later segment of other tables names."""
    for other in others:
        latest = beside(newest(other, "page"), "page", rows["page"].combine_chunks())["segment"]
        rows = rows.filter(compute.fill_null(compute.greater_equal(rows["segment"], latest), True))
    return rows


def names_of(dead: Any, kind: Any) -> Optional[Any]:
    """The names of dead pages; nothing if there are too many for the driver."""
    if hasattr(dead, "sparkSession"):
        dead = to_arrow(dead.select(dead.columns[0]).limit(PAGES + 1)).column(0)
        return None if len(dead) > PAGES else values(dead.cast(kind))
    return values(pyarrow.array([] if dead is None else list(dead), kind))
