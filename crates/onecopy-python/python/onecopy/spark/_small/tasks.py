"""What executors do for an update with few pages: each function here makes a job of Python tasks."""

from __future__ import annotations

import pickle
from typing import Any, Iterator, NamedTuple

import pyarrow

from .. import _stages
from .._segments import Segments
from .reading import packed, unpacked

# Words of sketches that a task reads at once.
WORDS = 32 << 20


class Wanted(NamedTuple):
    """Rows to find in a table of all segments: those whose `key` is one of `values`."""

    table: str
    columns: list[str]
    key: str
    values: Any


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

    found = spark.range(0, slices, 1, slices).mapInArrow(_stages.checked(work), "result binary").toArrow()
    return [pickle.loads(result.as_buffer()) for result in found["result"]]


def files_of(segments: Segments, table: str) -> list[tuple[int, str]]:
    """The files of a table, each with the number of its segment."""
    store, parts = segments.store, enumerate(segments.parts)
    return [(number, path) for number, part in parts for path in store.files(part.tables, table)]


def find(segments: Segments, *wanted: Wanted) -> list[Any]:
    """The rows of each request, with the number of their `segment`. Later segments may hide some of them."""
    sent = [packed(pyarrow.table({"values": one.values})) for one in wanted]
    sent = segments.store.spark.sparkContext.broadcast(sent)
    asked = [(one.columns, one.key) for one in wanted]
    tasks = [(number, *file) for number, one in enumerate(wanted) for file in files_of(segments, one.table)]

    def run(tasks: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy.spark._arrow import whole
        from onecopy.spark._small.reading import packed, rows_of, unpacked

        for number, segment, path in tasks:
            for rows in rows_of(path, *asked[number], unpacked(sent.value[number])["values"].combine_chunks()):
                of = whole([segment] * len(rows), "int32")
                yield number, packed(rows.append_column("segment", of))

    found = spread(segments.store.spark, _stages.checked(run), tasks)
    sent.destroy()
    return [rows_found(segments, one, [data for at, data in found if at == number]) for number, one in enumerate(wanted)]


def rows_found(segments: Segments, one: Wanted, found: list[bytes]) -> Any:
    """One table of what tasks found."""
    kinds = segments.arrow(one.table)
    schema = pyarrow.schema([*(kinds.field(name) for name in one.columns), ("segment", pyarrow.int32())])
    return pyarrow.concat_tables([schema.empty_table(), *(unpacked(data).cast(schema) for data in found)])


def edges(segments: Segments, fresh: Any, plan: str) -> Any:
    """Edges from fresh contents (`part`, `keys`), and from those beside them."""
    sent = segments.store.spark.sparkContext.broadcast(packed(fresh))

    def run(paths: Iterator[str]) -> Iterator[bytes]:
        from onecopy import _onecopy
        from onecopy.spark._arrow import table
        from onecopy.spark._small.reading import groups_of, packed, unpacked

        keys = _onecopy.FreshKeys(unpacked(sent.value))
        for path in paths:
            for group in groups_of(path, ["part", "keys"]):
                keys.meet(group)
        yield packed(table(keys.edges(plan)))

    paths = [path for _, path in files_of(segments, "keys")]
    found = spread(segments.store.spark, _stages.checked(run), paths)
    sent.destroy()
    return pyarrow.concat_tables(unpacked(data) for data in found)


def settle(segments: Segments, bins: list[tuple[int, Any]], plan: str) -> Any:
    """Decides about the pages of bins, each with its words. Reads the sketches of the sets that the pages are in."""
    files, whole = files_of(segments, "sketches"), _stages.settle(plan)

    def run(bins: Iterator[bytes]) -> Iterator[bytes]:
        import numpy
        import pyarrow
        from onecopy.spark._arrow import numbers
        from onecopy.spark._small.reading import packed, sketches_of, unpacked
        from onecopy.spark._small.rows import with_sketches

        tables = [unpacked(data) for data in bins]
        if tables:
            sets = numpy.unique(numpy.concatenate([numbers(table["set"]) for table in tables]))
            every = pyarrow.concat_tables(tables).select(["page", "segment"])
            sketches = with_sketches(every, sketches_of(files, sets))
            for table in tables:
                yield packed(whole(sketches(table)))

    slices = 1 + sum(words for words, _ in bins) // WORDS
    found = spread(segments.store.spark, _stages.checked(run), [packed(table) for _, table in bins], slices)
    schema = segments.arrow("settled")
    return pyarrow.concat_tables([schema.empty_table(), *(unpacked(data).cast(schema) for data in found)])


def moved_sketches(segments: Segments, pages: Any) -> Any:
    """A frame of sketches under the new names of their sets (`set`), for `pages` with the set that they were in (`was`)."""
    spark, sent = segments.store.spark, segments.store.spark.sparkContext.broadcast(packed(pages))

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import numpy
        from onecopy.spark._small.reading import sketches_of, unpacked
        from onecopy.spark._small.rows import with_sketches

        pages = unpacked(sent.value)
        files = [file for batch in batches for file in zip(*(column.to_pylist() for column in batch.columns))]
        if files:
            found = with_sketches(pages, sketches_of(files, numpy.unique(pages["was"].to_numpy())))
            yield from found(pages).select(["set", "page", "sketch"]).to_batches()

    # One task, so that it knows all sketches of a page.
    paths = spark.createDataFrame(files_of(segments, "sketches"), "segment int, path string").coalesce(1)
    return paths.mapInArrow(_stages.checked(run), segments.schema("sketches"))
