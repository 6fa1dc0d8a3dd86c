"""What executors do for an update with few pages: each function here makes a job of Python tasks."""

from __future__ import annotations

import pickle
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import pyarrow

from .. import _stages
from .._segments import Segments
from .._tables import to_arrow
from .reading import packed, unpacked

# Words of sketches that a task reads at once.
WORDS = 32 << 20
# Bytes of sketches that are sorted together.
TO_WRITE = 256 << 20


class Wanted(NamedTuple):
    """Rows to find in a table of all segments, or of those `since` one: those whose `key` is one of `values`."""

    table: str
    columns: list[str]
    key: str
    values: Any
    since: int = 0


def spread(spark: Any, run: Any, tasks: list[Any], least: int = 1) -> list[Any]:
    """Runs a function over tasks that take about the same time, on all executors."""
    slices = min(max(spark.sparkContext.defaultParallelism, least), len(tasks))
    if not tasks:
        return []

    # As a stage over rows, like all others: Spark has other Python processes for other kinds of stages.
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pickle
        import pyarrow
        from onecopy.spark._arrow import blobs

        for batch in batches:
            for number in batch.column(0).to_pylist():
                for result in run(iter(tasks[number::slices])):
                    yield pyarrow.RecordBatch.from_arrays([blobs([pickle.dumps(result)])], ["result"])

    found = to_arrow(spark.range(0, slices, 1, slices).mapInArrow(_stages.checked(work), "result binary"))
    return [pickle.loads(result.as_buffer()) for result in found["result"]]


def files_of(segments: Segments, table: str, since: int = 0) -> list[tuple[int, str]]:
    """The files of a table, each with the number of its segment."""
    store, parts = segments.store, [*enumerate(segments.parts)][since:]
    return [(number, path) for number, part in parts for path in store.files(part.tables, table)]


class Work(NamedTuple):
    """A function over tasks, and what was sent to executors for it."""

    run: Callable[..., Any]
    tasks: list[Any]
    sent: Any


def done(spark: Any, *works: Work) -> list[list[Any]]:
    """The results of each work. All are one job of Spark, because a job costs more than most of them."""
    runs = [work.run for work in works]
    tasks = [(number, task) for number, work in enumerate(works) for task in work.tasks]

    def run(tasks: Iterator[tuple[int, Any]]) -> Iterator[Any]:
        own = [*tasks]
        for number, each in enumerate(runs):
            for result in each(task for at, task in own if at == number):
                yield number, result

    found = spread(spark, _stages.checked(run), tasks)
    for work in works:
        work.sent.destroy()
    return [[result for at, result in found if at == number] for number in range(len(works))]


def find(segments: Segments, *wanted: Wanted) -> list[Any]:
    """The rows of each request, with the number of their `segment`. Later segments may hide some of them."""
    (found,) = done(segments.store.spark, finding(segments, *wanted))
    return rows_found(segments, wanted, found)


def meet(segments: Segments, one: Wanted, fresh: Any, plan: str) -> tuple[Any, Any]:
    """The rows of a request, and the edges from fresh contents (`part`, `keys`) and from those beside them."""
    found, edges = done(segments.store.spark, finding(segments, one), meeting(segments, fresh, plan))
    return rows_found(segments, [one], found)[0], pyarrow.concat_tables(unpacked(data) for data in edges)


def finding(segments: Segments, *wanted: Wanted) -> Work:
    """Finds rows in tables: the number of a request, and some rows as bytes."""
    values = [packed(pyarrow.table({"values": one.values})) for one in wanted]
    sent = segments.store.spark.sparkContext.broadcast(values)
    asked = [(one.columns, one.key) for one in wanted]
    tasks = [(number, *file) for number, one in enumerate(wanted) for file in files_of(segments, one.table, one.since)]

    def run(tasks: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._arrow import whole
        from onecopy.spark._small.reading import packed, rows_of, unpacked

        for number, segment, path in tasks:
            for rows in rows_of(path, *asked[number], unpacked(sent.value[number])["values"].combine_chunks()):
                of = whole([segment] * len(rows), "int32")
                yield number, packed(rows.append_column("segment", of))

    return Work(run, tasks, sent)


def rows_found(segments: Segments, wanted: Sequence[Wanted], found: list[Any]) -> list[Any]:
    """A table for each request of what `finding` found."""
    tables = []
    for number, one in enumerate(wanted):
        kinds = segments.arrow(one.table)
        schema = pyarrow.schema([*(kinds.field(name) for name in one.columns), ("segment", pyarrow.int32())])
        rows = (unpacked(data).cast(schema) for at, data in found if at == number)
        tables.append(pyarrow.concat_tables([schema.empty_table(), *rows]))
    return tables


def meeting(segments: Segments, fresh: Any, plan: str) -> Work:
    """Edges from fresh contents (`part`, `keys`), and from those beside them."""
    sent = segments.store.spark.sparkContext.broadcast(packed(fresh))

    def run(paths: Iterator[str]) -> Iterator[bytes]:
        from onecopy import _onecopy
        from onecopy.spark._arrow import table
        from onecopy.spark._small.reading import keys_of, packed, unpacked

        keys = _onecopy.FreshKeys(unpacked(sent.value))
        for path in paths:
            for some in keys_of(path):
                keys.meet(some)
        yield packed(table(keys.edges(plan)))

    return Work(run, [path for _, path in files_of(segments, "keys")], sent)


def put_sketches(folder: str, sets: Any) -> Callable[..., Any]:
    """Writes the sketches of pages (`node`, `page`, `sketch`), each task its own in files of limited size.

    `sets` has the name of each set as the `component` of its nodes. A lone node is a set by itself.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy.spark._arrow import in_tables, whole
        from onecopy.spark._small.reading import unpacked, write_sketches
        from onecopy.spark._small.rows import mapped
        from pyspark import TaskContext

        task, named = TaskContext.get().partitionId(), unpacked(sets.value).combine_chunks()
        node, component = (named[name].combine_chunks() for name in ("node", "component"))
        for number, pages in enumerate(in_tables(batches, TO_WRITE)):
            pages = pages.append_column("set", mapped(pages["node"].combine_chunks(), node, component))
            path = f"{folder}/fresh-{task:05}-{number:03}.parquet"
            write_sketches(pages, path)
            yield pyarrow.RecordBatch.from_arrays([whole([len(pages)], "int64")], ["pages"])

    return run


def settle(segments: Segments, bins: list[tuple[int, Any]], plan: str) -> Any:
    """Decides about the pages of bins, each with its words. Reads the sketches of the sets that the pages `was` in.

    Sketches of old pages whose `set` has another name now are written again, into the newest segment.
    """
    files, whole = files_of(segments, "sketches"), _stages.settle(plan)
    newest, folder = len(segments.parts) - 1, segments.store.full(segments.parts[-1].tables, "sketches")

    def run(bins: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
        import numpy
        import pyarrow
        from onecopy.spark._arrow import numbers
        from onecopy.spark._small.reading import packed, sketches_of, unpacked, write_moved
        from onecopy.spark._small.rows import with_sketches

        tables = [(number, unpacked(data)) for number, data in bins]
        if tables:
            # Sketches of fresh pages are under the new names.
            sets = numpy.unique(numpy.concatenate([numbers(table[name]) for _, table in tables for name in ("was", "set")]))
            every = pyarrow.concat_tables(table for _, table in tables).select(["page", "segment"])
            sketches = with_sketches(every, sketches_of(files, sets))
            for number, table in tables:
                near = sketches(table)
                write_moved(near, newest, f"{folder}/moved-{number:05}.parquet")
                yield packed(whole(near))

    slices = 1 + sum(words for words, _ in bins) // WORDS
    tasks = [(number, packed(table)) for number, (_, table) in enumerate(bins)]
    found = spread(segments.store.spark, _stages.checked(run), tasks, slices)
    schema = segments.arrow("settled")
    return pyarrow.concat_tables([schema.empty_table(), *(unpacked(data).cast(schema) for data in found)])

