"""What runs in the executors: functions over Arrow tables that call Rust. Each function here makes one of them.

The functions travel to the workers by value, so that even a worker with another version of onecopy can say so.
"""

from __future__ import annotations

import zlib
from typing import Any, Callable, Iterable, Iterator, Optional

import onecopy

# How many tasks merge tables of rarity. The driver merges what is left.
SLOTS = 8


def checked(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which refuses to run on a worker with another version of onecopy than the driver."""
    version = onecopy.__version__

    def guarded(data: Any) -> Any:
        import onecopy

        if onecopy.__version__ != version:
            raise onecopy.OnecopyError(
                f"a worker has onecopy {onecopy.__version__}, and the driver has {version}: "
                "install the same version on all machines"
            )
        return run(data)

    return guarded


def appraise(plan: str, page: str) -> Callable[..., Any]:
    """Rows to pages: what `dedup` needs to know of each row, and its name in `page`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.compute
        from onecopy import _onecopy

        for batch in batches:
            rows = pyarrow.Table.from_batches([batch])
            table = pyarrow.table(_onecopy.appraise_pages(rows, plan))
            name = rows
            for part in page.split("\0"):
                name = name[part] if name is rows else pyarrow.compute.struct_field(name, part)
            yield from table.add_column(0, "page", name).to_batches()

    return checked(run)


def count(bits: int) -> Callable[..., Any]:
    """Counts how common the shingles of a partition are. The packed table goes to one of a few slots."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import zlib

        import onecopy
        import pyarrow
        from onecopy import _onecopy
        from onecopy.spark._stages import SLOTS
        from pyspark import TaskContext

        rarity, counted = onecopy.Rarity(bits), False
        for batch in batches:
            _onecopy.count_sketches(rarity, pyarrow.Table.from_batches([batch]))
            counted = True
        if counted:
            slot = pyarrow.array([TaskContext.get().partitionId() % SLOTS], pyarrow.int32())
            yield pyarrow.record_batch({"slot": slot, "counters": [zlib.compress(rarity.to_bytes(), 1)]})

    return checked(run)


def merge() -> Callable[..., Any]:
    """Adds up the tables of one slot."""

    def run(table: Any) -> Any:
        import zlib

        import pyarrow
        from onecopy.spark._stages import merged

        total = merged(table["counters"].to_pylist())
        packed = zlib.compress(total.to_bytes(), 1)
        return pyarrow.table({"slot": table["slot"][:1], "counters": pyarrow.array([packed], pyarrow.binary())})

    return checked(run)


def merged(tables: Iterable[bytes]) -> Optional[onecopy.Rarity]:
    """The sum of packed tables of rarity; nothing if there is none."""
    total = None
    for packed in tables:
        counts = onecopy.Rarity.from_bytes(zlib.decompress(packed))
        if total is None:
            total = counts
        else:
            total.merge(counts)
    return total


def key_parts(plan: str, rarity: Any, parts: int) -> Callable[..., Any]:
    """Pages to keys, packed by the part of all keys that they fall into."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        counts = _onecopy.Rarity.from_bytes(rarity.value)
        for batch in batches:
            pages = pyarrow.Table.from_batches([batch])
            yield from pyarrow.table(_onecopy.key_parts(pages, plan, counts, parts)).to_batches()

    return checked(run)


def key_edges(plan: str) -> Callable[..., Any]:
    """The keys of a part to edges between contents that may be similar, and the hashes of repeated names."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        edges, repeated = _onecopy.key_edges(table, plan)
        edges = pyarrow.table(edges)
        edges = edges.append_column("repeated", pyarrow.nulls(len(edges), pyarrow.int64()))
        names = {name: pyarrow.nulls(len(repeated), pyarrow.int64()) for name in edges.column_names[:-1]}
        names["repeated"] = pyarrow.array(repeated, pyarrow.int64())
        return pyarrow.concat_tables([edges, pyarrow.table(names)])

    return checked(run)


def connect_nodes() -> Callable[..., Any]:
    """Edges to sets, in one task."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        return pyarrow.table(_onecopy.connect_nodes(table))

    return checked(run)


def link_edges() -> Callable[..., Any]:
    """Pages with links to edges between addresses."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        for batch in batches:
            yield from pyarrow.table(_onecopy.link_edges(pyarrow.Table.from_batches([batch]))).to_batches()

    return checked(run)


def follow_links() -> Callable[..., Any]:
    """Pages at connected addresses to where they end, and the canonical links to test (`tested`)."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        page = table["page"].combine_chunks()
        ends, tested = (pyarrow.table(found) for found in _onecopy.follow_links(table))

        def rows(found: Any, is_tested: bool) -> Any:
            some = len(found)
            empty = lambda name, kind: found[name] if name in found.column_names else pyarrow.nulls(some, kind)
            return pyarrow.table(
                {
                    "page": page.take(found["row"].combine_chunks()),
                    "target": page.take(found["target"].combine_chunks()),
                    "revisit": empty("revisit", pyarrow.bool_()),
                    "reason": empty("reason", pyarrow.string()),
                    "tested": pyarrow.array([is_tested] * some, pyarrow.bool_()),
                }
            )

        return pyarrow.concat_tables([rows(ends, False), rows(tested, True)])

    return checked(run)


def settle(plan: str) -> Callable[..., Any]:
    """The pages of a bin to decisions. `named` has the pages that a page names as its own, if any."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        page, pairs = table["page"].combine_chunks(), []
        named = table["named"].to_pylist()
        if any(named):
            row_of = {name: row for row, name in enumerate(page.to_pylist())}
            pairs = [(row, row_of[to]) for row, some in enumerate(named) for to in some or () if to in row_of]
        found = pyarrow.table(_onecopy.settle_pages(table, pairs, plan))
        return pyarrow.table(
            {
                "page": page,
                "winner": page.take(found["winner"].combine_chunks()),
                "similarity": found["similarity"],
                "kind": found["kind"],
                "group": page.take(found["group"].combine_chunks()),
                "members": found["members"],
            }
        )

    return checked(run)


def alike(plan: str) -> Callable[..., Any]:
    """Whether the sketches `left` and `right` of each row are alike. Keeps `page`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        for batch in batches:
            table = pyarrow.Table.from_batches([batch])
            found = pyarrow.table(_onecopy.alike_sketches(table, plan))
            yield from pyarrow.table({"page": table["page"], "alike": found["alike"]}).to_batches()

    return checked(run)


def fresh_edges(plan: str) -> Callable[..., Any]:
    """The keys of a part to edges from fresh contents, and from those beside them."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        return pyarrow.table(_onecopy.fresh_edges(table, plan))

    return checked(run)
