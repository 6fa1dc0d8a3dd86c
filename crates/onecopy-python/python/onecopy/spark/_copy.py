"""Copies rows of Parquet files with pyarrow. Runs in executors."""

from __future__ import annotations

import itertools
import posixpath
import uuid
from typing import Any, Iterable, Iterator

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet
from pyarrow import fs

from ._aside import rows_of

# A row group of a copy has about so many bytes at most.
BYTES = 64 << 20
# The folder of files that are not complete. It is deleted at the end.
DRAFTS = "_drafts"


def copy(
    goal: str,
    spans: list[tuple[str, int, int]],
    columns: tuple[list[str], str],
    gone: Any,
    style: tuple[str, dict[str, str]],
) -> int:
    """Copies rows of files whose name, in the second of `columns`, is not gone. Says how many.

    A file appears when it is complete. Files with other columns, or columns of another form, become another file.
    """
    (names, page), rows, made = columns, 0, 0
    copies = itertools.groupby(kept(spans, names, page, gone), key=lambda table: table.schema)
    for schema, tables in copies:
        rows += write(f"{goal}-{made:03}.parquet", schema.with_metadata(style[1]), tables, compression=style[0])
        made += 1
    return rows


def write(goal: str, schema: Any, tables: Iterable[Any], group: int = 1 << 30, **style: Any) -> int:
    """Writes tables into a file beside the folder, which then gets its name. Says how many rows.

    A row group has one table at most, and at most so many rows.
    """
    files, goal = fs.FileSystem.from_uri(goal)
    folder, rows = posixpath.dirname(posixpath.dirname(goal)), 0
    draft = f"{folder}/{DRAFTS}/{uuid.uuid4().hex}"
    for made in (draft, goal):
        files.create_dir(posixpath.dirname(made), recursive=True)
    with pyarrow.parquet.ParquetWriter(draft, schema, filesystem=files, **style) as writer:
        for table in tables:
            writer.write_table(table.cast(schema), row_group_size=max(min(len(table), group), 1))
            rows += len(table)
    give_name(files, draft, goal)
    return rows


def give_name(files: Any, draft: str, goal: str) -> None:
    """Gives a complete file its name, unless another attempt of the same task was faster: it wrote the same rows.

    A file that has its name is never deleted. The driver may be giving the folder its name, too.
    """
    known = lambda: files.get_file_info(goal).type != fs.FileType.NotFound
    if known():
        files.delete_file(draft)
        return
    try:
        files.move(draft, goal)
    except OSError:
        if not known():
            raise


def kept(spans: list[tuple[str, int, int]], names: list[str], page: str, gone: Any) -> Iterator[Any]:
    """The rows of files that are not gone, in tables of limited size."""
    for span in spans:
        for table in rows_of(span, names, 1 << 30, BYTES):
            table = table.select(names).replace_schema_metadata(None)
            lost = compute.is_in(table[page].cast(gone.type), value_set=gone)
            table = table.filter(compute.invert(lost)) if compute.any(lost).as_py() else table
            if len(table):
                yield table
