"""What runs in the executors: functions over Arrow tables that call Rust. Each function here makes one of them.

The functions travel to the workers by value, so that even a worker with another version of onecopy can say so.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import onecopy

# So many bytes of sketches are packed together.
PACKED_BYTES = 128 << 20
# Into how many parts keys are packed, how many bits of a key travel, and whether keys stay in a collection.
Packing = tuple[int, int, bool]
# The columns of packed pages.
PACKED = "bin int, pages binary, sketches binary"


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
        from onecopy.spark._arrow import keep_modules

        keep_modules()
        return run(data)

    return guarded


def over_groups(key: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """A function over the table of each group, for batches that come in the order of the `key` of groups."""

    def over(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._arrow import groups

        for table in groups(batches, key):
            yield from run(table).to_batches()

    return checked(over)


def over_all(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function over one table of all batches. It does not run if there are none."""

    def over(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        held = [*batches]
        if held:
            yield from run(pyarrow.Table.from_batches(held)).to_batches()

    return checked(over)


def look_at_files(schema: Any) -> Callable[..., Any]:
    """Paths of Parquet files to the bytes of their row groups in some columns, or to nothing if Spark must read them."""

    def run(paths: Iterator[str]) -> Iterator[Any]:
        from onecopy.spark._aside import groups_in

        for path in paths:
            yield path, groups_in(path, schema)

    return checked(run)


def appraise(plan: str, page: str, bits: int, keyed: Any = None) -> Callable[..., Any]:
    """Rows to pages: what `dedup` needs to know of each row, and its name in `page`.

    The last row of a partition has only its `tally`: the numbers of its pages, and how common their shingles are. With
    the rarity and packing of `keyed`, further rows have only the `keys` of pages that fall into a `part`.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import onecopy
        import pyarrow
        import pyarrow.compute
        from onecopy import _onecopy
        from onecopy.spark._tally import Tally, rarity_of

        tally, empty = Tally(onecopy.Rarity(bits)), None
        counts = rarity_of(keyed[0]) if keyed else None

        def alone(**values: Any) -> Iterator[Any]:
            some = len(next(iter(values.values())))
            columns = {field.name: values.get(field.name, pyarrow.nulls(some, field.type)) for field in empty.schema}
            return pyarrow.table(columns, schema=empty.schema).to_batches()

        for batch in batches:
            rows = pyarrow.Table.from_batches([batch])
            table = pyarrow.table(_onecopy.appraise_pages(rows, plan))
            name = rows
            for part in page.split("\0"):
                name = name[part] if name is rows else pyarrow.compute.struct_field(name, part)
            table = table.add_column(0, "page", name)
            tally.add(table)
            facts = table
            more = [("tally", pyarrow.binary()), ("part", pyarrow.int32()), ("keys", pyarrow.binary())]
            for name, kind in more if keyed else more[:1]:
                table = table.append_column(name, pyarrow.nulls(len(table), kind))
            empty = table.schema.empty_table()
            yield from table.to_batches()
            if keyed:
                keys = pyarrow.table(_onecopy.key_parts(facts, plan, counts, keyed[1]))
                yield from alone(part=keys["part"], keys=keys["keys"])
        if empty is not None:
            yield from alone(tally=pyarrow.array([tally.to_bytes()], pyarrow.binary()))

    return checked(run)


def merge_tallies() -> Callable[..., Any]:
    """Adds up the tallies of a group."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy.spark._arrow import blobs
        from onecopy.spark._tally import merged

        packed = merged(table["tally"].to_pylist()).to_bytes()
        return pyarrow.table({"tally": blobs([packed])})

    return checked(run)


def key_parts(plan: str, rarity: Any, packing: Packing) -> Callable[..., Any]:
    """Pages to keys, packed by the part of all keys that they fall into."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy

        counts = _onecopy.Rarity.from_bytes(rarity.value)
        for batch in batches:
            pages = pyarrow.Table.from_batches([batch])
            yield from pyarrow.table(_onecopy.key_parts(pages, plan, counts, packing)).to_batches()

    return checked(run)


def key_edges(plan: str) -> Callable[..., Any]:
    """The keys of a part to edges between contents that may be similar, and the hashes of repeated names."""

    def run(table: Any) -> Any:
        import pyarrow
        from onecopy import _onecopy

        from onecopy.spark._arrow import table as table_of, whole

        edges, repeated = _onecopy.key_edges(table, plan)
        edges = table_of(edges)
        edges = edges.append_column("repeated", pyarrow.nulls(len(edges), pyarrow.int64()))
        names = {name: pyarrow.nulls(len(repeated), pyarrow.int64()) for name in edges.column_names[:-1]}
        names["repeated"] = whole(repeated, "int64")
        return pyarrow.concat_tables([edges, pyarrow.table(names)])

    return checked(run)


def connect_nodes() -> Callable[..., Any]:
    """Edges to sets, in one task."""

    def run(table: Any) -> Any:
        from onecopy import _onecopy
        from onecopy.spark._arrow import table as table_of

        return table_of(_onecopy.connect_nodes(table))

    return checked(run)


def set_bins(task_words: int, least: int) -> Callable[..., Any]:
    """Edges to sets and their bins, in one task."""

    def run(table: Any) -> Any:
        from onecopy import _onecopy
        from onecopy.spark._arrow import table as table_of

        return table_of(_onecopy.set_bins(table, task_words, least))

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


def pack(mapped: bool = False) -> Callable[..., Any]:
    """Pages to rows of many pages, by bin. Sketches of similar pages are packed as their differences.

    Pages whose bin is negative are left out. Batches may be `mapped` from a file.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy import _onecopy
        from onecopy.spark._arrow import blobs, whole
        from onecopy.spark._stages import PACKED_BYTES

        def packed(tables: list[Any]) -> Iterator[Any]:
            table = pyarrow.concat_tables(tables)
            narrow = table.drop_columns(["bin", "component", "sketch"]).combine_chunks()
            found = _onecopy.pack_sketches(table.select(["bin", "component", "sketch"]))
            # Each part is freed once it is sent.
            while found:
                number, rows, sketches = found.pop()
                pages, sink = narrow.take(whole(rows, "uint32")), pyarrow.BufferOutputStream()
                with pyarrow.ipc.new_stream(sink, pages.schema) as stream:
                    stream.write_table(pages)
                row = [whole([number], "int32"), blobs([sink.getvalue().to_pybytes()]), blobs([sketches])]
                yield pyarrow.RecordBatch.from_arrays(row, ["bin", "pages", "sketches"])

        held, size = [], 0
        for batch in batches:
            held.append(pyarrow.Table.from_batches([batch]))
            # What is mapped from a file takes memory only once it is packed.
            size += batch.nbytes // 2 if mapped else batch.nbytes
            if size >= PACKED_BYTES:
                yield from packed(held)
                held, size = [], 0
        if held:
            yield from packed(held)

    return checked(run)


def settle_packed(plan: str) -> Callable[..., Any]:
    """As `settle`, for pages that `pack` packed."""
    settled = deciding(plan)

    def run(table: Any) -> Any:
        import pyarrow

        streams = [pyarrow.ipc.open_stream(pages.as_buffer()) for pages in table["pages"]]
        pages = pyarrow.concat_tables(stream.read_all() for stream in streams)
        return settled(pages, table.select(["sketches"]))

    return checked(run)


def settle(plan: str) -> Callable[..., Any]:
    """The pages of a bin to decisions. `named` has the pages that a page names as its own, if any."""
    return checked(deciding(plan))


def deciding(plan: str) -> Callable[..., Any]:
    """As `settle`, unchecked. Sketches may be packed beside the pages."""

    def run(table: Any, sketches: Any = None) -> Any:
        import pyarrow
        from onecopy import _onecopy
        from onecopy.spark._arrow import table as table_of

        page, pairs = table["page"].combine_chunks(), []
        named = table["named"] if "named" in table.column_names else pyarrow.chunked_array([], pyarrow.null())
        if named.null_count < len(named):
            row_of = {name: row for row, name in enumerate(page.to_pylist())}
            lists = enumerate(named.to_pylist())
            pairs = [(row, row_of[to]) for row, some in lists for to in some or () if to in row_of]
        found = table_of(_onecopy.settle_pages(table, pairs, plan, sketches))
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

    return run


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
