"""Reads the files of a collection with pyarrow. Runs in executors."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

import numpy
import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet
from pyarrow import fs

from .._arrow import numbers, whole
from .ranges import GROUP_BYTES, PLAIN, Places, among, located, places, taken

# Sketches of about so many bytes are read together.
TOGETHER = 128 << 20


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


def keys_of(path: str) -> Iterator[Any]:
    """The keys of a file: `part`, `keys`. Rows whose part is negative have no keys."""
    with opened(path) as file:
        narrow = file.read(columns=["part", "size"], use_threads=False)
        wanted = places(file.metadata, "keys", numbers(narrow["size"]))
        found = None if wanted is None else located(path, wanted)
        if found is None:
            for number in range(file.metadata.num_row_groups):
                yield file.read_row_group(number, columns=["part", "keys"], use_threads=False)
        else:
            keys = among(*found)
            part = numpy.full(len(keys), -1, "int32")
            part[::2] = numbers(narrow["part"])
            yield pyarrow.table([whole(part, "int32"), keys], ["part", "keys"])


def rows_of(path: str, columns: list[str], key: str, values: Any) -> Iterator[Any]:
    """The rows whose key is one of some values. Other columns are read only of row groups that have such a row."""
    with opened(path) as file:
        for number in range(file.metadata.num_row_groups):
            keys = file.read_row_group(number, columns=[key], use_threads=False)[key]
            found = compute.is_in(keys, value_set=values.cast(keys.type))
            if compute.any(found).as_py():
                yield file.read_row_group(number, columns=columns, use_threads=False).filter(found)


def sketches_of(files: Iterable[tuple[int, str]], sets: Any) -> Iterator[Any]:
    """The sketches of sets: `segment`, `set`, `page`, `sketch`. Reads hardly more than these."""
    for segment, path in files:
        with opened(path) as file:
            narrow = file.read(columns=["set", "page", "size"], use_threads=False)
            rows = numpy.flatnonzero(numpy.isin(numbers(narrow["set"]), sets))
            wanted = places(file.metadata, "sketch", numbers(narrow["size"]))
            for some in sharded(rows, numbers(narrow["size"])[rows]):
                found = None if wanted is None else located(path, Places(wanted.first[some], wanted.end[some]))
                sketch = taken(*found) if found else of_groups(file, "sketch", some)
                table = narrow.select(["set", "page"]).take(whole(some, "int64")).append_column("sketch", sketch)
                yield table.add_column(0, "segment", whole([segment] * len(table), "int32"))


def sharded(rows: Any, sizes: Any) -> list[Any]:
    """Rows in parts whose values have a limited number of bytes."""
    cuts = numpy.flatnonzero(numpy.diff(numpy.cumsum(sizes) // TOGETHER)) + 1
    return [part for part in numpy.split(rows, cuts) if len(part)]


def of_groups(file: Any, column: str, rows: Any) -> Any:
    """Values of a column, by reading the row groups that have them."""
    ends = numpy.cumsum([file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)])
    hit, at = numpy.unique(numpy.searchsorted(ends, rows, side="right"), return_inverse=True)
    read = file.read_row_groups(hit.tolist(), columns=[column], use_threads=False)[column]
    counts = numpy.diff(ends, prepend=0)[hit]
    inside = rows - (ends - numpy.diff(ends, prepend=0))[hit][at]
    return read.take(whole((numpy.cumsum(counts) - counts)[at] + inside, "int64"))


def write_moved(pages: Any, newest: int, path: str) -> None:
    """Writes the sketches of pages of earlier segments whose `set` is not the one that they `was` in, if there are any."""
    was, now, segment = (numbers(pages[name]) for name in ("was", "set", "segment"))
    moved = numpy.flatnonzero((was != now) & (segment < newest))
    if len(moved):
        write_sketches(pages.take(whole(moved, "int64")), path)


def write_sketches(pages: Any, path: str) -> None:
    """Writes the sketches of pages in the order of their `set`."""
    order = numpy.argsort(numbers(pages["set"]), kind="stable")
    table = with_sizes(pages.take(whole(order, "int64")).select(["set", "page", "sketch"]), "sketch")
    write_in_place(table.select(["set", "page", "size", "sketch"]), path)


def with_sizes(table: Any, column: str) -> Any:
    """A table with the bytes of each value of a column in `size`."""
    return table.append_column("size", compute.binary_length(table[column]).cast(pyarrow.int32()))


def write_in_place(table: Any, path: str) -> None:
    """Writes a file whose values `places` can find: plain bytes, each column of a row group in one page."""
    from .._copy import write

    some = max(1, GROUP_BYTES * len(table) // max(table.nbytes, 1))
    write(path, table.schema.remove_metadata(), [table], some, **PLAIN)
