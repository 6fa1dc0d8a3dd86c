"""A data frame to pages: checks the columns, and keeps what the later stages need of each row."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple, Optional, Sequence

from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _passes
from ._blobs import Blobs, batches, made
from ._tables import NARROW, NUMBERS, PART, TABLE
from ._tally import Tally

# The facts of a page. `node` is the first half of the fingerprint: pages with one text have one node.
FACTS = (
    "reason string, fingerprint binary, node long, name long, rank binary, sketch binary, "
    "identity long, exact long, flags int, links binary"
)
# Those of them that are small.
SMALL_FACTS = FACTS.replace("sketch binary, ", "")
# Rows of large pages must fit into memory together.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
# A task appraises at least so many bytes of the files.
BYTES_IN_A_TASK = 128 << 20
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)


class Source(NamedTuple):
    """The rows of a frame that become pages: the frame with the columns that count, and how its pages are named."""

    frame: Any
    page: str
    kind: str
    # The names of the structures that the name is in, and its own, with a zero between them.
    path: str
    # How many tasks there are at most.
    tasks: int

    @property
    def schema(self) -> Any:
        """The columns as Arrow knows them."""
        return to_arrow_schema(self.frame.schema)


class Pages(NamedTuple):
    """The pages of a frame as stored blobs: their facts with and without sketches, keys, and a tally of each task."""

    blobs: Blobs
    source: Source

    @property
    def tables(self) -> Blobs:
        """The tables of facts."""
        return self.blobs.between(TABLE, TABLE)

    def frame(self, columns: Sequence[str], sent: Optional[Any] = None) -> Any:
        """These facts of all rows, or of pages in the sets of `sent`, with their `component` and `bin`."""
        kinds = dict(part.split(" ") for part in f"page {self.source.kind}, {FACTS}, component long, bin int".split(", "))
        columns = [*columns, *([] if sent is None else ["component", "bin"])]
        tables = self.tables if "sketch" in columns else self.blobs.between(NARROW, NARROW)
        return tables.frame(_passes.unpack(columns, sent), ", ".join(f"{name} {kinds[name]}" for name in columns))

    @property
    def keys(self) -> Any:
        """The keys of pages, packed by part."""
        return self.blobs.between(PART, TABLE - 1).frame(_passes.key_rows(), "part int, keys binary")

    @property
    def tally(self) -> Tally:
        """The numbers of all pages. Refuses rows without names."""
        return Tally(self.blobs.between(NUMBERS, NUMBERS).collect()).checked(self.source.page)


@contextmanager
def settings(spark: Any) -> Iterator[None]:
    """Settings of the session while our stages are planned. Refuses older versions of Spark."""
    if int(spark.version.split(".")[0]) < 4:
        raise OnecopyError(f"this is Spark {spark.version}, and onecopy needs Spark 4: install pyspark 4")
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def source(df: Any, plan: str, given: dict[str, Any]) -> Source:
    """The rows of a frame, in as many tasks as they need."""
    page, kind = naming_column(df, given)
    wanted = used_columns(df, given)
    # An error about columns comes before any work, in the words of the program.
    _onecopy.appraise_pages(to_arrow_schema(wanted.schema).empty_table(), plan)
    path = page.replace(".", "\0") if page not in df.columns else page
    tasks = min(tasks_for(wanted), 1 << 30)
    return Source(wanted.coalesce(tasks), page, kind, path, tasks)


def pages(rows: Source, plan: str, keyed: Any) -> Pages:
    """The pages of rows, computed once. `keyed` has how common shingles are, and how keys are packed; or it is the number
    of bits of a table, and how common they are is counted.
    """
    run = _passes.appraise(rows.schema, rows.path, plan, keyed)
    return Pages(made(rows.frame.sparkSession, batches(rows.frame), run).stored(), rows)


def tasks_for(df: Any) -> int:
    """How many tasks appraise a frame: all cores have work. Many if its size is not known."""
    return max(df.sparkSession.sparkContext.defaultParallelism, size_of(df) // BYTES_IN_A_TASK)


def size_of(df: Any) -> int:
    """The bytes of a frame, as far as Spark knows. Packed files have some times as much text."""
    return int(str(df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def naming_column(df: Any, given: dict[str, Any]) -> tuple[str, str]:
    """The column whose values name pages in all results, and its type."""
    ids, urls = _onecopy.naming_fields()
    asked = [given["id_field"]] if given["id_field"] else ids
    urls = [given["url_field"]] if given["url_field"] else urls
    for name in asked + ([] if given["id_field"] else urls):
        kind = kind_of(df.schema, name)
        if isinstance(kind, T.StringType) or (isinstance(kind, WHOLE) and name in asked):
            return name, kind.simpleString()
        if kind is not None and name == given["id_field"]:
            break
    if given["id_field"] and kind_of(df.schema, given["id_field"]) is not None:
        raise OnecopyError(f"the column `{given['id_field']}` cannot be the id: it is neither text nor whole numbers")
    shown = ", ".join(f"`{name}`" for name in df.columns[:20])
    raise OnecopyError(
        f"no column names the pages; the columns are {shown}. Rows of a cluster have no order, so give id_field"
    )


def kind_of(schema: Any, path: str) -> Any:
    """The type of a column, or of a field of a structure; nothing if there is none."""
    if path in schema.names:
        return schema[path].dataType
    first, _, rest = path.partition(".")
    if rest and first in schema.names and isinstance(schema[first].dataType, T.StructType):
        return kind_of(schema[first].dataType, rest)
    return None


def used_columns(df: Any, given: dict[str, Any]) -> Any:
    """Only the columns that make a page."""
    texts, others = _onecopy.field_names()
    named = [value for name, value in given.items() if name.endswith("_field") and value]
    for name in named:
        if kind_of(df.schema, name) is None:
            known = ", ".join(f"`{column}`" for column in df.columns[:20])
            raise OnecopyError(f"the data has no column `{name}`; its columns are {known}")
    used = set(texts if not given["text_field"] else []) | set(others) | set(named)
    used |= {name.partition(".")[0] for name in named}
    return df.select([F.col(f"`{name}`") for name in df.columns if name in used])
