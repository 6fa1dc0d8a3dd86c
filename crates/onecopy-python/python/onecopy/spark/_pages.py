"""A data frame to pages: checks the columns, and keeps what the later stages need of each row."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, NamedTuple, Optional

import pyarrow.compute as compute
from pyspark import StorageLevel
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _stages
from ._tables import over_groups, to_arrow
from ._tally import Tally, merged

# The facts of a page. `node` is the first half of the fingerprint: pages with one text have one node.
FACTS = (
    "reason string, fingerprint binary, node long, name long, rank binary, sketch binary, "
    "identity long, exact long, flags int, links binary"
)
# Those of them that are small.
NARROW = FACTS.replace("sketch binary, ", "")
# Rows of large pages must fit into memory together.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
}
# Python processes keep memory that a batch needed for the next one: to get it anew took a sixth of their time. Spark has
# a Python process for each set of such variables.
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    # Larger blocks grow without a copy, and are given back.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
}
# A task appraises at least so many bytes of the files.
BYTES_IN_A_TASK = 128 << 20
# The driver adds up this many tallies alone.
TALLIES = 16
OLDEST_SPARK = (3, 5)
WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)


class Pages(NamedTuple):
    """The pages of a frame, and the column that names them. `stored` has the facts and the tallies of partitions."""

    stored: Any
    page: str
    kind: str
    # How many tallies there are at most.
    tasks: int
    # Settings of the session for stages over these pages.
    settings: dict[str, str] = {}

    @property
    def facts(self) -> Any:
        """The facts of each page."""
        alone = "tally is null and keys is null" if "keys" in self.stored.columns else "tally is null"
        return self.stored.where(alone).drop("tally", "part", "keys")

    @property
    def narrow(self) -> Any:
        """The facts of each page without its sketch."""
        return self.facts.drop("sketch")

    @property
    def keys(self) -> Any:
        """The keys of pages, packed by part, if they were asked for."""
        return self.stored.where("keys is not null").select("part", "keys")

    def key_parts(self, plan: str, counts: Any, packing: _stages.Packing) -> Any:
        """The keys of judged pages, packed by part. `counts` is a table of rarity that was sent to all executors."""
        return key_parts(self.facts.where("reason is null"), plan, counts, packing)

    def collected(self) -> tuple[Any, Any]:
        """The narrow facts and the keys as Arrow tables, for few pages whose keys were asked for."""
        rows = to_arrow(self.stored.where("tally is null").drop("sketch", "tally"))
        is_key = rows["keys"].is_valid()
        return rows.filter(compute.invert(is_key)), rows.filter(is_key).select(["part", "keys"])

    def over_judged(self, names: list[str], run: Callable[..., Any], columns: str) -> Any:
        """What a function over Arrow batches makes of some facts of judged pages."""
        return self.facts.where("reason is null").select(*names).mapInArrow(_stages.checked(run), columns)

    def packed(self, bins: Any) -> Any:
        """The pages of bins, packed; nothing if they must be joined as rows."""
        return None

    def tallies(self) -> list[bytes]:
        """The tallies of all tasks, or their sums if they are many."""
        found = self.stored.where("tally is not null").select("tally")
        if self.tasks > TALLIES:
            parts = found.withColumn("part", F.pmod(F.spark_partition_id(), F.lit(TALLIES)))
            found = over_groups(parts, "part", _stages.merge_tallies(), "tally binary")
        return [row["tally"] for row in found.collect()]

    def free(self) -> None:
        """Frees what the executors store."""
        self.stored.unpersist()


@contextmanager
def settings(spark: Any, wanted: dict[str, str] = SETTINGS) -> Iterator[None]:
    """Settings of the session and of Python processes while our stages are planned. Refuses older versions of Spark."""
    if tuple(map(int, spark.version.split(".")[:2])) < OLDEST_SPARK:
        raise OnecopyError(f"this is Spark {spark.version}, and onecopy needs Spark 3.5 or 4: install pyspark 4")
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    variables = spark.sparkContext.environment
    spark.sparkContext.environment = {**variables, **ENVIRONMENT}
    try:
        yield
    finally:
        spark.sparkContext.environment = variables
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def pages(df: Any, plan: str, given: dict[str, Any], bits: Callable[[Optional[int]], int], keyed: Any = None) -> Pages:
    """The pages of a frame, computed once and stored by the executors; with their keys if `keyed` says how.

    `bits` gives the bits of tables of rarity for about so many words of sketches, if these are known.
    """
    page, kind = naming_column(df, given)
    wanted = used_columns(df, given)
    # An error about columns comes before any work, in the words of the program.
    _onecopy.appraise_pages(_empty(wanted), plan)
    from ._files import file_pages

    files = file_pages(wanted, plan, (page, kind), bits, keyed)
    if files is not None:
        return files
    run = _stages.appraise(plan, page.replace(".", "\0") if page not in df.columns else page, bits(None), keyed)
    tasks = tasks_for(wanted)
    columns = f"page {kind}, {FACTS}, tally binary{', part int, keys binary' if keyed else ''}"
    facts = wanted.coalesce(min(tasks, 1 << 30)).mapInArrow(run, columns)
    return Pages(facts.persist(StorageLevel.DISK_ONLY), page, kind, tasks)


def key_parts(facts: Any, plan: str, counts: Any, packing: _stages.Packing) -> Any:
    """The keys of pages, packed by part. `counts` is a table of rarity that was sent to all executors."""
    run = _stages.key_parts(plan, counts, packing)
    return facts.select("node", "name", "sketch").mapInArrow(run, "part int, keys binary")


def tasks_for(df: Any) -> int:
    """How many tasks appraise a frame: each has a tally, and all cores have work. Many if its size is not known."""
    size = int(str(df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    return max(df.sparkSession.sparkContext.defaultParallelism, size // BYTES_IN_A_TASK)


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


def measure(found: Pages) -> Optional[Tally]:
    """The tally of all pages; nothing if there are none. Refuses rows without names."""
    packed = found.tallies()
    tally = merged(packed) if packed else None
    if tally is not None and tally.nameless:
        raise OnecopyError(
            f"{tally.nameless} of {tally.rows} rows have no `{found.page}`: "
            "give every page a name of its own, or choose another column with id_field"
        )
    return tally


def check(found: Pages) -> Tally:
    """The tally of all pages. Refuses frames without pages."""
    tally = measure(found)
    if tally is None:
        raise OnecopyError("the data has no rows: give at least one page")
    if not tally.judged:
        raise OnecopyError(f"none of the {tally.rows} rows could be judged: {tally.reason}")
    return tally
