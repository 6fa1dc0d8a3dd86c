"""What runs in the executors: functions over Arrow tables that call Rust. Each function here makes one of them.

The functions travel to the workers by value, so that even a worker with another version of onecopy can say so.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import onecopy

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


def key_parts(plan: str, rarity: Any, packing: tuple[int, int]) -> Callable[..., Any]:
    """Pages to keys, packed by the part of all keys that they fall into. `packing` has how many parts, and bits of keys."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        counts = _onecopy.Rarity.from_bytes(rarity.value)
        for batch in batches:
            pages = pyarrow.Table.from_batches([batch])
            yield from pyarrow.table(_onecopy.key_parts(pages, plan, counts, packing)).to_batches()

    return checked(run)


def connect_nodes() -> Callable[..., Any]:
    """Edges to sets, in one task."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        return pyarrow.table(_onecopy.connect_nodes(table))

    return checked(run)


def machines(partitions: str) -> Callable[..., Any]:
    """The first content of each set to the machine that a saved plan has for it. Keeps `component`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        for batch in batches:
            found = pyarrow.table(_onecopy.planned_machines(pyarrow.Table.from_batches([batch]), partitions))
            rows = {"component": batch.column(0), "machine": found["machine"]}
            yield from pyarrow.table(rows).to_batches()

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
        named = table["named"] if "named" in table.column_names else pyarrow.chunked_array([], pyarrow.null())
        if named.null_count < len(named):
            row_of = {name: row for row, name in enumerate(page.to_pylist())}
            lists = enumerate(named.to_pylist())
            pairs = [(row, row_of[to]) for row, some in lists for to in some or () if to in row_of]
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


def edges_to(plan: str, fresh: Any) -> Callable[..., Any]:
    """As `fresh_edges`, for keys of the collection that stay where they are: the `fresh` keys come to them."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.compute
        from onecopy import _onecopy

        new = pyarrow.table(fresh.value, pyarrow.schema([("part", pyarrow.int32()), ("keys", pyarrow.binary())]))
        new = new.append_column("fresh", pyarrow.array([1] * len(new), pyarrow.int32()))
        for batch in batches:
            old = pyarrow.Table.from_batches([batch])
            old = old.append_column("fresh", pyarrow.array([0] * len(old), pyarrow.int32()))
            for part in pyarrow.compute.unique(old["part"]):
                both = [keys.filter(pyarrow.compute.equal(keys["part"], part)) for keys in (new, old)]
                yield from pyarrow.table(_onecopy.fresh_edges(pyarrow.concat_tables(both), plan)).to_batches()

    return checked(run)


def find_sketches(sets: Any) -> Callable[..., Any]:
    """Files (`segment`, `path`) to the sketches of `sets` in them. Reads only row groups that can have one."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        from onecopy.spark._small.reading import sketches_of

        wanted = numpy.frombuffer(sets.value, dtype=numpy.int64)
        for batch in batches:
            for table in sketches_of(zip(*(column.to_pylist() for column in batch.columns)), wanted):
                yield from table.drop_columns(["set"]).to_batches()

    return checked(run)
