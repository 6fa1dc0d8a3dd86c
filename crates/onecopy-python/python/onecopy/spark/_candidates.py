"""Which contents may be similar: keys, sets of contents that share one, and the bins that sets are settled in."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

import pyarrow
import pyarrow.compute as compute
from pyspark.sql import functions as F

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _passes, _stages
from ._blobs import Blobs
from ._pages import Pages
from ._store import measured, stored
from ._tables import NUMBERS, TABLE, packed, unpacked
from ._tally import Tally

# Keys of about this many pages fit into a task.
PAGES_IN_A_PART = 50_000
# So many more bits of a key travel than keys need to be told apart: few pages meet by chance.
SPARE_BITS = 13


class Tuning(NamedTuple):
    """What changes the speed, never the answer."""

    # Words of sketches that a task settles together. A set with more is divided.
    task_words: int = 8_000_000
    # Edges between contents that the driver connects, and sends to all executors as sets. More are connected in rounds.
    edges_in_a_task: int = 5_000_000
    # Counters of rarity, as a power of two. More make fewer keys, and each task needs 1.25 bytes for each.
    rarity_bits: int = 25


class Met(NamedTuple):
    """What the keys of all pages say: tables of edges between contents, and their numbers."""

    edges: Blobs
    count: int
    # Hashes of names that several pages have.
    repeated: list[int]
    tally: Tally


class Placed(NamedTuple):
    """The set of each content that may be similar to another, and the bin that it is settled in. Large sets have none.

    Few are sent to all executors, and many are in a frame: `node`, `component`, `bin`.
    """

    sent: Optional[Any]
    frame: Any
    # How many bins there are, and contents without one.
    bins: int
    large: int


def packing(spark: Any, words: int) -> tuple[int, int]:
    """Into how many parts keys are packed, and how many bits of them travel."""
    parts = max(spark.sparkContext.defaultParallelism, words // (PAGES_IN_A_PART * 600), 1)
    # About one word in four is a key.
    return parts, (words // 4).bit_length() + SPARE_BITS


def met(found: Pages, plan: str, parts: int) -> Met:
    """Lets the keys of all pages meet, part by part. The edges are stored by the executors."""
    keys = found.blobs.between(NUMBERS, TABLE - 1).placed(parts)
    edges = keys.mapped(_passes.key_edges(plan)).stored()
    numbers = [json.loads(data) for data in edges.between(NUMBERS, NUMBERS).collect()]
    tally = Tally(tally for one in numbers for tally in one["tallies"]).checked(found.source.page).of_any()
    repeated = [name for one in numbers for name in one["repeated"]]
    return Met(edges.between(TABLE, TABLE), sum(one["edges"] for one in numbers), repeated, tally)


def check_names(found: Pages, repeated: list[int]) -> None:
    """Refuses two pages with one name."""
    facts = found.frame(["page", "name"]).where(F.col("name").isin(repeated[:100]))
    first = facts.groupBy("page").count().where("count > 1").orderBy("page").first()
    if first is not None:
        raise OnecopyError(
            f"{first['count']} rows have the same `{found.source.page}`: {first['page']!r}. "
            "Results name pages by it, so give each page its own, or choose another column with id_field"
        )


def components(edges: Any, limit: int) -> Any:
    """The set of each node of `edges` (`node`, `root`), named by one of its nodes: `node`, `component`."""
    pairs = edges.select("node", "root")
    if pairs.count() <= limit:
        return stored(pairs.groupBy().applyInArrow(_stages.connect_nodes(), "node long, component long"))
    return stored(in_rounds(pairs))


def in_rounds(pairs: Any) -> Any:
    """Connects edges in rounds of stars, for more edges than a task holds (Kiveris and others 2014)."""
    lone = pairs.select("node").union(pairs.select(F.col("root").alias("node"))).distinct()
    stars, before = stored(pairs.where("node <> root")), None
    while True:
        made = stored(small_star(large_star(stars)))
        state = tuple(made.agg(F.count(F.lit(1)), F.bit_xor(F.xxhash64("node", "root"))).first())
        stars.unpersist()
        stars = made
        if state == before:
            break
        before = state
    found = stars.groupBy("node").agg(F.min("root").alias("component"))
    return lone.join(found, "node", "left").select("node", F.coalesce("component", "node").alias("component"))


def large_star(pairs: Any) -> Any:
    """Each node links its larger neighbours to its smallest neighbour."""
    both = pairs.select("node", "root").union(pairs.select("root", "node").toDF("node", "root"))
    least = both.groupBy("node").agg(F.least(F.min("root"), F.first("node")).alias("least"))
    found = both.join(least, "node").where("root > node").select(F.col("root").alias("node"), F.col("least").alias("root"))
    return found.where("node <> root").distinct()


def small_star(pairs: Any) -> Any:
    """Each node links itself and its smaller neighbours to the smallest of them."""
    down = pairs.select(F.greatest("node", "root").alias("node"), F.least("node", "root").alias("root"))
    least = down.groupBy("node").agg(F.min("root").alias("least"))
    joined = down.join(least, "node")
    sides = joined.select(F.col("root").alias("node"), F.col("least").alias("root"))
    return sides.union(least.select("node", F.col("least").alias("root"))).where("node <> root").distinct()


def placed(edges: Blobs, count: int, tuning: Tuning) -> Placed:
    """Makes sets of edges, and places sets in bins."""
    spark, columns = edges.spark, ["node", "root", "words", "pages"]
    if count <= tuning.edges_in_a_task:
        return of_table(spark, pyarrow.concat_tables(map(unpacked, edges.collect())), tuning)
    found = stored(edges.frame(_passes.unpack(columns), "node long, root long, words long, pages long"))
    return of_frame(found, tuning)


def of_table(spark: Any, edges: Any, tuning: Tuning) -> Placed:
    """The places of contents by a table of edges: `node`, `root`, `words`, `pages`."""
    least = spark.sparkContext.defaultParallelism
    places = pyarrow.table(_onecopy.set_bins(edges, tuning.task_words, least))
    bins = compute.max(places["bin"]).as_py()
    sent = spark.sparkContext.broadcast(packed(places))
    return Placed(sent, spark.createDataFrame(places), 1 + (-1 if bins is None else bins), places["bin"].null_count)


def of_frame(edges: Any, tuning: Tuning) -> Placed:
    """As `of_table`, for more edges than a task connects."""
    places = weighed(edges, components(edges, tuning.edges_in_a_task), tuning)
    numbers = F.max("bin").alias("bin"), F.count_if(F.col("bin").isNull()).alias("large")
    frame, found = measured(places, *numbers)
    return Placed(None, frame, 1 + (-1 if found["bin"] is None else found["bin"]), found["large"])


def weighed(found: Any, sets: Any, tuning: Tuning) -> Any:
    """The bins of sets that are known, for edges with the `words` and `pages` of each node."""
    weights = found.groupBy("node").agg((F.greatest(F.max("words"), F.lit(1)) * F.max("pages")).alias("words"))
    heavy = sets.join(weights, "node")
    whole = stored(heavy.groupBy("component").agg(F.sum("words").alias("total")))
    total = whole.agg(F.sum("total")).first()[0] or 0
    least = found.sparkSession.sparkContext.defaultParallelism
    count = max(least, 1 + 2 * total // tuning.task_words)
    bin_of = F.when(F.col("total") <= tuning.task_words, F.pmod(F.xxhash64("component"), F.lit(count)).cast("int"))
    return heavy.join(whole.withColumn("bin", bin_of), "component").select("node", "component", "bin")
