"""A data frame to pages: checks the columns, and keeps what the later stages need of each row."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _stages

# The facts of a page. `node` is the first half of the fingerprint: pages with one text have one node.
FACTS = (
    "reason string, fingerprint binary, node long, name long, rank binary, sketch binary, "
    "identity long, exact long, flags int, links binary"
)
# Rows of large pages must fit into memory together.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)


class Pages(NamedTuple):
    """The pages of a frame, and the column that names them."""

    facts: Any
    page: str
    kind: str


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


def pages(df: Any, plan: str, given: dict[str, Any]) -> Pages:
    """The pages of a frame, computed once and stored by the executors."""
    page, kind = naming_column(df, given)
    wanted = used_columns(df, given)
    # An error about columns comes before any work, in the words of the program.
    _onecopy.appraise_pages(_empty(wanted), plan)
    run = _stages.appraise(plan, page.replace(".", "\0") if page not in df.columns else page)
    facts = wanted.mapInArrow(run, f"page {kind}, {FACTS}")
    return Pages(facts.persist(StorageLevel.DISK_ONLY), page, kind)


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


def _empty(df: Any) -> Any:
    """An empty Arrow table with the columns of a frame."""
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    return pyarrow.Table.from_batches([], to_arrow_schema(df.schema))


def measure(found: Pages) -> Any:
    """The number of rows, of those that can be judged, and of the words of all sketches. Refuses rows without names."""
    row = found.facts.agg(
        F.count(F.lit(1)).alias("rows"),
        F.count_if(F.col("page").isNull()).alias("nameless"),
        F.count_if(F.col("reason").isNull()).alias("judged"),
        F.first("reason", ignorenulls=True).alias("reason"),
        F.expr("coalesce(sum(length(sketch)), 0) div 8").alias("words"),
    ).first()
    if row["nameless"]:
        raise OnecopyError(
            f"{row['nameless']} of {row['rows']} rows have no `{found.page}`: "
            "give every page a name of its own, or choose another column with id_field"
        )
    return row


def check(found: Pages) -> int:
    """The number of words of all sketches. Refuses frames without pages."""
    row = measure(found)
    if row["rows"] == 0:
        raise OnecopyError("the data has no rows: give at least one page")
    if not row["judged"]:
        raise OnecopyError(f"none of the {row['rows']} rows could be judged: {row['reason']}")
    return row["words"]
