"""Writes the results of a run into a new folder. It appears in one step.

If the pages are plain Parquet files and kept rows shall be, executors copy them with pyarrow: no text passes through Java.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

from .._onecopy import OnecopyError
from . import _stages
from ._copy import DRAFTS
from ._plain import spans_of
from ._small.reading import packed
from ._small.tasks import spread
from ._versions import Store

# So many names of removed pages are sent to all executors.
NAMES_TO_SEND = 5_000_000
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
    partial = Store(df.sparkSession, f"{store.folder}.partial")
    partial.delete(partial.folder)
    try:
        copied = output.form == "parquet" and copy_kept(found, df, page, partial)
        for name in ("removed", "groups", "rejected", *(() if copied else ("kept",))):
            getattr(found, name).write.format(output.form).save(partial.path(name))
        partial.rename(store)
    except BaseException:
        partial.delete(partial.folder)
        raise


def copy_kept(found: Any, df: Any, page: str, partial: Store) -> bool:
    """Copies the kept rows of plain Parquet files. Says whether it did."""
    spark, spans = df.sparkSession, spans_of(df) if page in df.columns else None
    codec = CODECS.get(spark.conf.get("spark.sql.parquet.compression.codec", "snappy").lower())
    if spans is None or codec is None or not can_write(partial.full("kept")):
        return False
    if found.report["removed"] + found.report["rejected"] > NAMES_TO_SEND:
        return False
    gone = found.removed.select("page").union(found.rejected.select("page"))
    sent = spark.sparkContext.broadcast(packed(gone.toArrow()))
    tasks = [(number, [tuple(span) for span in task]) for number, task in enumerate(spans)]
    schema = {ROW_METADATA: df.schema.json()}
    run = copy_rows(partial.full("kept"), (df.columns, page), (codec, schema), sent)
    spread(spark, run, tasks, len(tasks))
    partial.delete(partial.path(DRAFTS))
    partial.mark("kept", "_SUCCESS")
    sent.destroy()
    return True


def can_write(folder: str) -> bool:
    """Whether pyarrow can write to this file system. Makes the folder."""
    import pyarrow
    from pyarrow import fs

    try:
        files, name = fs.FileSystem.from_uri(folder)
        files.create_dir(name, recursive=True)
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
