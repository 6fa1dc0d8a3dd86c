"""Frames that only read Parquet files. Executors read these with pyarrow, so that no text passes through Java.

A frame that Spark could read in another way than pyarrow is left to Spark, and the answer is the same.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

from . import _stages
from ._small.tasks import spread

RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
LISTING = "org.apache.spark.sql.execution.datasources.InMemoryFileIndex"
# Options of a reader that choose files, and say nothing about their rows.
HARMLESS = {"path", "paths", "mergeschema", "pathglobfilter", "recursivefilelookup", "basepath", "modifiedbefore", "modifiedafter"}
LENIENT = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
# A task reads at least so many bytes of the columns.
BYTES_IN_A_TASK = 512 << 20


class Span(NamedTuple):
    """Some row groups of a file, one after another."""

    path: str
    first: int
    end: int


def spans_of(df: Any) -> Optional[tuple[list[list[Span]], int]]:
    """What each task reads of the files of a frame, and the bytes of all.

    Nothing if the frame is more than that, or if pyarrow cannot read them.
    """
    paths = paths_of(df)
    if not paths:
        return None
    from pyspark.sql.pandas.types import to_arrow_schema

    context = df.sparkSession.sparkContext
    found = dict(spread(df.sparkSession, _stages.look_at_files(to_arrow_schema(df.schema)), paths))
    if any(groups is None for groups in found.values()):
        return None
    total = sum(size for groups in found.values() for size in groups)
    least = max(context.defaultParallelism, 1)
    tasks = least * max(1, -(-total // (least * BYTES_IN_A_TASK)))
    return dealt([(path, found[path]) for path in paths], total, tasks), total


def dealt(files: list[tuple[str, list[int]]], total: int, tasks: int) -> list[list[Span]]:
    """Row groups in order, shared out to tasks by their bytes. No task is empty."""
    shares: list[list[Span]] = [[] for _ in range(tasks)]
    before = 0
    for path, groups in files:
        for number, size in enumerate(groups):
            share = shares[min((before + size // 2) * tasks // max(total, 1), tasks - 1)]
            before += size
            if share and share[-1].path == path:
                share[-1] = share[-1]._replace(end=number + 1)
            else:
                share.append(Span(path, number, number + 1))
    return [share for share in shares if share]


def paths_of(df: Any) -> Optional[list[str]]:
    """The files of a frame that is nothing but columns of Parquet files; nothing if it is more."""
    relation = relation_of(df._jdf.queryExecution().analyzed())
    if relation is None or any(str(df.sparkSession.conf.get(name, "false")).lower() == "true" for name in LENIENT):
        return None
    options = {name.lower() for name in relation.options().keys().mkString("\0").split("\0") if name}
    folders = set(relation.partitionSchema().names())
    if options - HARMLESS or folders & set(df.columns) or any("." in name for name in df.columns):
        return None
    return list(relation.location().inputFiles())


def relation_of(plan: Any) -> Any:
    """The files under a plan that only chooses columns."""
    while (kind := plan.getClass().getSimpleName()) in ("Project", "SubqueryAlias"):
        if kind == "Project":
            chosen = plan.projectList()
            names = (chosen.apply(at).getClass().getSimpleName() for at in range(chosen.length()))
            if any(name != "AttributeReference" for name in names):
                return None
        plan = plan.child()
    if plan.getClass().getName() != RELATION:
        return None
    files = plan.relation()
    # Other relations read databases.
    known = files.getClass().getSimpleName() == "HadoopFsRelation" and files.fileFormat().getClass().getName() == FORMAT
    return files if known and files.location().getClass().getName() == LISTING else None
