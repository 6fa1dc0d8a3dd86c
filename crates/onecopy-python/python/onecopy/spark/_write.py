"""Writes the results of a run into a new folder. It appears in one step.

If the pages are plain Parquet files and kept rows shall be, executors copy them with pyarrow: no text passes through Java.
"""

from __future__ import annotations

import uuid
from typing import Any, Iterator, NamedTuple

import pyarrow
from pyarrow import fs

from .._onecopy import OnecopyError
from . import _stages
from ._copy import DRAFTS
from ._copy import write as write_file
from ._pages import settings
from ._plain import spans_of
from ._small.reading import packed
from ._small.tasks import spread
from ._tables import to_arrow
from ._versions import Store

# The driver writes the lists of so many pages, and sends the names of removed ones to all executors.
LINES = 2_000_000
# Spark's names of codecs, and those of pyarrow.
CODECS = {"none": "none", "uncompressed": "none", "snappy": "snappy", "gzip": "gzip", "zstd": "zstd", "lz4_raw": "lz4"}
# Where Spark looks for the columns of a Parquet file.
ROW_METADATA = "org.apache.spark.sql.parquet.row.metadata"


class Output(NamedTuple):
    """A new folder, and Spark's name of the format of its files."""

    folder: str
    form: str


def new_folder(spark: Any, folder: str) -> Store:
    """A folder for results. Refuses one that exists."""
    store = Store(spark, folder)
    if store.exists():
        raise OnecopyError(f"{folder}: it exists already; choose a new folder for the results")
    return store


def write(found: Any, df: Any, page: str, output: Output) -> None:
    """Writes all results of a run over the rows of `df`, whose column `page` names them."""
    store = new_folder(df.sparkSession, output.folder)
    # Two writes at once must not share it.
    partial = Store(df.sparkSession, f"{store.folder}.partial-{uuid.uuid4().hex[:12]}")
    try:
        with settings(df.sparkSession):
            done = write_parquet(found, df, page, partial) if output.form == "parquet" else ()
        for name in {"kept", "removed", "groups", "rejected"} - {*done}:
            getattr(found, name).write.format(output.form).save(partial.path(name))
        partial.rename(store)
    except BaseException:
        partial.delete(partial.folder)
        raise


def write_parquet(found: Any, df: Any, page: str, partial: Store) -> list[str]:
    """Writes with pyarrow what it can, and says what that was: lists of few pages, and rows of plain Parquet files."""
    codec = CODECS.get(df.sparkSession.conf.get("spark.sql.parquet.compression.codec", "snappy").lower())
    if found._read > LINES or codec is None or not can_write(partial.full("kept")):
        return []
    lists = {name: getattr(found, name) for name in ("removed", "groups", "rejected")}
    rows = {name: to_arrow(frame) for name, frame in lists.items()}
    gone = pyarrow.concat_tables([rows[name].select(["page"]) for name in ("removed", "rejected")])
    copied = copy_kept(df, page, partial.full("kept"), (gone, codec))
    for name, frame in lists.items():
        path, schema = f"{partial.full(name)}/part-00000.parquet", with_columns(rows[name].schema, frame)
        write_file(path, schema, [rows[name]], compression=codec)
    partial.delete(partial.path(DRAFTS))
    done = [*lists, *(["kept"] if copied else [])]
    for name in done:
        partial.mark(name, "_SUCCESS")
    return done


def with_columns(schema: Any, frame: Any) -> Any:
    """The schema of a file, with the columns of a frame as Spark looks for them."""
    return schema.with_metadata({ROW_METADATA: frame.schema.json()})


def copy_kept(df: Any, page: str, folder: str, what: tuple[Any, str]) -> bool:
    """Copies the rows of plain Parquet files that are not gone. Says whether it did."""
    (gone, codec), dealt = what, spans_of(df) if page in df.columns else None
    if dealt is None:
        return False
    sent = df.sparkSession.sparkContext.broadcast(packed(gone))
    tasks = [(number, [tuple(span) for span in task]) for number, task in enumerate(dealt[0])]
    run = copy_rows(folder, (df.columns, page), (codec, {ROW_METADATA: df.schema.json()}), sent)
    spread(df.sparkSession, run, tasks, len(tasks))
    sent.destroy()
    return True


def can_write(folder: str) -> bool:
    """Whether pyarrow can write to this file system."""
    try:
        files, name = fs.FileSystem.from_uri(folder)
        files.create_dir(name, recursive=True)
        files.delete_dir(name)
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException):
        return False
    return True


def copy_rows(folder: str, columns: tuple[list[str], str], style: tuple[str, dict[str, str]], gone: Any) -> Any:
    """Copies the rows of tasks (a number and spans of files) whose names are not `gone`, each into files of its own."""

    def run(tasks: Iterator[Any]) -> Iterator[int]:
        from onecopy.spark._copy import copy
        from onecopy.spark._small.reading import unpacked

        names = unpacked(gone.value)["page"].combine_chunks()
        for number, spans in tasks:
            yield copy(f"{folder}/part-{number:05}", spans, columns, names, style)

    return _stages.checked(run)
