"""Values of a Parquet column at their places in the file. Runs in executors.

pyarrow reads a column of a whole row group, even for one row. A column of plain bytes that is not compressed has its
values in sequence, each behind its length. Whoever knows the lengths of all values finds each of them, and a file that
is mapped into memory gives it without a copy. The length before each value shows that it was found.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy
import pyarrow
from pyarrow import fs

from .._arrow import whole

# Bytes of a row group.
GROUP_BYTES = 4 << 20
# How pyarrow writes such a column. A row group has one page, and a footer has no values.
PLAIN = {"compression": "none", "use_dictionary": False, "write_statistics": False, "data_page_size": 1 << 30}
# The bytes of the length before a value.
LENGTH = 4
# Places of other file systems that are closer than this are read together.
NEAR = 64 << 10


class Places(NamedTuple):
    """Where some values of a column begin and end in its file."""

    first: Any
    end: Any


def places(metadata: Any, column: str, sizes: Any) -> Optional[Places]:
    """The places of all values of a column of plain bytes, whose sizes are known. Nothing if it has another form.

    The values of a row group are the last bytes of its column.
    """
    ends = []
    at = [metadata.schema.column(number).path for number in range(metadata.num_columns)].index(column)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunk = group.column(at)
        if chunk.compression != "UNCOMPRESSED" or chunk.has_dictionary_page:
            return None
        ends.append((group.num_rows, chunk.data_page_offset + chunk.total_compressed_size))
    rows, ends = numpy.array(ends, "int64").reshape(-1, 2).T
    if rows.sum() != len(sizes):
        return None
    # How many bytes of all row groups are up to the end of each row, and of each row group.
    upto = numpy.cumsum(sizes + LENGTH)
    upto_group = numpy.concatenate([[0], upto])[numpy.cumsum(rows)]
    end = numpy.repeat(ends - upto_group, rows) + upto
    return Places(end - sizes, end)


def located(path: str, wanted: Places) -> Optional[tuple[Any, Places]]:
    """Bytes of a file that have the values at some places, which are in order, and the places there.

    Nothing if a length before a value is another.
    """
    files, name = fs.FileSystem.from_uri(path)
    local = isinstance(files, fs.LocalFileSystem)
    with pyarrow.memory_map(name) if local else files.open_input_file(name) as source:
        if len(wanted.first) and (wanted.first.min() < LENGTH or wanted.end.max() > source.size()):
            return None
        data, wanted = (source.read_buffer(), wanted) if local else parts(source, wanted)
    around = wanted.first[:, None] + numpy.arange(-LENGTH, 0)
    said = numpy.frombuffer(data, "uint8")[around].view("<u4").reshape(-1)
    return (data, wanted) if numpy.array_equal(said, wanted.end - wanted.first) else None


def parts(source: Any, wanted: Places) -> tuple[Any, Places]:
    """The bytes of a file around some places, in one buffer, and the places there."""
    first, end = wanted.first - LENGTH, wanted.end
    begins = numpy.flatnonzero(numpy.concatenate([[True], first[1:] - end[:-1] > NEAR]))
    lasts = numpy.concatenate([begins[1:], [len(first)]]) - 1
    read = [source.read_at(int(end[last] - first[begin]), int(first[begin])) for begin, last in zip(begins, lasts)]
    before = numpy.cumsum([0, *map(len, read)])[:-1]
    moved = numpy.repeat(before - first[begins], lasts - begins + 1)
    return pyarrow.py_buffer(b"".join(read)), Places(wanted.first + moved, wanted.end + moved)


def among(data: Any, wanted: Places) -> Any:
    """The values at places of a buffer, without a copy. Every second one is what lies between two of them."""
    offsets = pyarrow.py_buffer(numpy.stack(wanted, axis=1).reshape(-1))
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), max(2 * len(wanted.first) - 1, 0), [None, offsets, data])


def taken(data: Any, wanted: Places) -> Any:
    """The values at places of a buffer."""
    return among(data, wanted).take(whole(numpy.arange(0, 2 * len(wanted.first), 2), "int64")).cast(pyarrow.binary())
