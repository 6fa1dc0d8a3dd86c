"""Reads the files of a collection with pyarrow. Runs in executors."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

import numpy
import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet
from pyarrow import fs

from .._arrow import numbers, whole

# So many row groups of sketches are read at once.
GROUPS = 32


def opened(path: str) -> Any:
    """A Parquet file of any file system that pyarrow knows."""
    files, name = fs.FileSystem.from_uri(path)
    return pyarrow.parquet.ParquetFile(files.open_input_file(name))


def packed(table: Any) -> bytes:
    """A table as bytes."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def unpacked(data: bytes) -> Any:
    """The table that `packed` packed."""
    return pyarrow.ipc.open_stream(data).read_all()


def groups_of(path: str, columns: list[str]) -> Iterator[Any]:
    """The row groups of a file, one after another."""
    with opened(path) as file:
        for number in range(file.metadata.num_row_groups):
            yield file.read_row_group(number, columns=columns, use_threads=False)


def rows_of(path: str, columns: list[str], key: str, values: Any) -> Iterator[Any]:
    """The rows whose key is one of some values. Other columns are read only of row groups that have such a row."""
    with opened(path) as file:
        for number in range(file.metadata.num_row_groups):
            keys = file.read_row_group(number, columns=[key], use_threads=False)[key]
            found = compute.is_in(keys, value_set=values.cast(keys.type))
            if compute.any(found).as_py():
                yield file.read_row_group(number, columns=columns, use_threads=False).filter(found)


def sketches_of(files: Iterable[tuple[int, str]], sets: Any) -> Iterator[Any]:
    """The sketches of sets (sorted): `segment`, `set`, `page`, `sketch`. Reads only row groups that can have one."""
    for segment, path in files:
        with opened(path) as file:
            hit = groups_with(file, sets)
            for first in range(0, len(hit), GROUPS):
                table = file.read_row_groups(hit[first : first + GROUPS], use_threads=False)
                table = table.take(whole(numpy.flatnonzero(numpy.isin(numbers(table["set"]), sets)), "int64"))
                if len(table):
                    yield table.add_column(0, "segment", whole([segment] * len(table), "int32"))


def write_moved(pages: Any, newest: int, path: str) -> None:
    """Writes the sketches of pages of earlier segments whose `set` is not the one that they `was` in, if there are any."""
    was, now, segment = (numbers(pages[name]) for name in ("was", "set", "segment"))
    moved = numpy.flatnonzero((was != now) & (segment < newest))
    if len(moved):
        write_sketches(pages.take(whole(moved, "int64")), path)


def write_sketches(pages: Any, path: str) -> None:
    """Writes the sketches of pages in the order of their `set`, in small row groups."""
    from .._copy import write
    from .._sketches import GROUP_BYTES

    order = numpy.argsort(numbers(pages["set"]), kind="stable")
    table = pages.take(whole(order, "int64")).select(["set", "page", "sketch"])
    some = max(1, GROUP_BYTES * len(table) // max(table.nbytes, 1))
    write(path, table.schema.remove_metadata(), [table], "none", some)


def groups_with(file: Any, sets: Any) -> list[int]:
    """The row groups with a sketch of one of the sets. One narrow column tells faster than the footer's ranges."""
    rows = numpy.flatnonzero(numpy.isin(numbers(file.read(columns=["set"], use_threads=False)["set"]), sets))
    ends = numpy.cumsum([file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)])
    return numpy.unique(numpy.searchsorted(ends, rows, side="right")).tolist()
