"""Arrow columns without pandas. Runs in executors.

pyarrow imports pandas wherever it takes values of Python or gives arrays of numpy. That takes most of a second in each
Python process, and half as long as a whole stage over few pages.
"""

from __future__ import annotations

import gc
import sys
import zipimport
from typing import Any, Iterable, Iterator

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

KINDS = {numpy.dtype(name): getattr(pyarrow, name)() for name in ("int32", "int64", "uint32")}


def table(found: Any) -> Any:
    """The table of an object that gives Arrow batches."""
    return pyarrow.RecordBatchReader.from_stream(found).read_all()


def whole(values: Any, kind: str) -> Any:
    """A column of whole numbers, of a type that numpy knows."""
    numbers = numpy.ascontiguousarray(values, dtype=kind)
    return pyarrow.Array.from_buffers(KINDS[numbers.dtype], len(numbers), [None, pyarrow.py_buffer(numbers)])


def blobs(values: Iterable[bytes]) -> Any:
    """A column of bytes."""
    values = list(values)
    ends = numpy.cumsum([0, *map(len, values)])
    if ends[-1] >= 1 << 31:
        raise OverflowError("more than 2 GB of bytes in a column")
    offsets = pyarrow.py_buffer(ends.astype("int32"))
    return pyarrow.Array.from_buffers(pyarrow.binary(), len(values), [None, offsets, pyarrow.py_buffer(b"".join(values))])


def numbers(column: Any) -> Any:
    """The whole numbers of a column without nulls, for numpy."""
    column = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    kind = next(of_numpy for of_numpy, of_arrow in KINDS.items() if of_arrow == column.type)
    if column.null_count:
        raise ValueError("a column of numbers has nulls")
    if not len(column):
        return numpy.empty(0, kind)
    return numpy.frombuffer(column.buffers()[1], dtype=kind)[column.offset :][: len(column)]


def groups(batches: Iterable[Any], key: str) -> Iterator[Any]:
    """A table of the rows of each value of a column of whole numbers. Batches come in its order."""
    held: list[Any] = []
    value = None
    for batch in batches:
        found = numbers(batch.column(key))
        ends = [*numpy.flatnonzero(found[1:] != found[:-1]) + 1, len(found)] if len(found) else []
        for first, end in zip([0, *ends], ends):
            if held and found[first] != value:
                yield pyarrow.Table.from_batches(held)
                held = []
            value = found[first]
            held.append(batch.slice(first, end - first))
    if held:
        yield pyarrow.Table.from_batches(held)


def in_tables(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Batches with rows in tables of about so many bytes."""
    held, bytes_ = [], 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            bytes_ += batch.nbytes
        if bytes_ >= size:
            yield pyarrow.Table.from_batches(held)
            held, bytes_ = [], 0
    if held:
        yield pyarrow.Table.from_batches(held)


def keep_modules() -> None:
    """Spares a Python process of Spark what it does between tasks for modules, which stay as they are.

    It looks for garbage in them, and reads the contents of Spark's ZIP files again for each package in these.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    for path, finder in [*sys.path_importer_cache.items()]:
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]
