"""What runs in the executors: functions over Arrow tables that call Rust. Each function here makes one of them.

The functions travel to the workers by value, so that even a worker with another version of onecopy can say so.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import onecopy

# How many pieces a table of rarity is cut into, so that several tasks merge it.
SLOTS = 16


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
    """Counts how common the shingles of a partition are. The table is cut into slots and packed."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import zlib

        import onecopy
        import pyarrow
        from onecopy import _onecopy
        from onecopy.spark._stages import SLOTS

        rarity, counted = onecopy.Rarity(bits), False
        for batch in batches:
            _onecopy.count_sketches(rarity, pyarrow.Table.from_batches([batch]))
            counted = True
        if counted:
            counters = rarity.to_bytes()[16:]
            size = len(counters) // SLOTS
            pieces = [zlib.compress(counters[at : at + size], 1) for at in range(0, len(counters), size)]
            yield pyarrow.record_batch({"slot": pyarrow.array(range(SLOTS), pyarrow.int32()), "counters": pieces})

    return checked(run)


def merge() -> Callable[..., Any]:
    """Adds up the pieces of one slot."""

    def run(table: Any) -> Any:
        import zlib

        import onecopy
        import pyarrow
        from onecopy.spark._stages import rarity_of

        total = None
        for piece in table["counters"]:
            counts = rarity_of(zlib.decompress(piece.as_py()))
            if total is None:
                total = counts
            else:
                total.merge(counts)
        slot = table["slot"][:1].cast(pyarrow.int32())
        packed = zlib.compress(total.to_bytes()[16:], 1)
        return pyarrow.table({"slot": slot, "counters": pyarrow.array([packed], pyarrow.binary())})

    return checked(run)


def rarity_of(counters: bytes) -> onecopy.Rarity:
    """A table of rarity from its counters."""
    from onecopy import _onecopy

    return _onecopy.rarity_of(counters)


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
