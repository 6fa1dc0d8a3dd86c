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
from ._tables import NUMBERS, RARITY, TABLE, packed, rarity_merged, unpacked
from ._tally import Tally

# The driver adds up this many tables of rarity alone, and they have at least so many counters, as a power of two.
TABLES, LEAST_BITS = 16, 12
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
    """What the keys of all pages say: tables of edges between contents, how many, and hashes of names of several pages."""

    edges: Blobs
    count: int
    repeated: list[int]


class Placed(NamedTuple):
    """The set of each content that may be similar to another, and the bin that it is settled in. Large sets have none.

    Both are in a frame (`node`, `component`, `bin`), and sent to all executors if they are few.
    """

    frame: Any
    sent: Optional[Any]
    # How many bins there are, and contents without one.
    bins: int
    large: int


def rarity(found: Pages, tally: Tally) -> Any:
    """How common shingles are. No more counters than all words need."""
    tables = found.blobs.between(RARITY, RARITY)
    if found.source.tasks > TABLES:
        tables = tables.placed(TABLES).mapped(_passes.merge_rarity())
    counts = rarity_merged(tables.collect())
    return _onecopy.fold_rarity(counts, max(LEAST_BITS, (tally.words // 2).bit_length()))


def packing(spark: Any, words: int) -> tuple[int, int]:
    """Into how many parts keys are packed, and how many bits of them travel."""
    parts = max(spark.sparkContext.defaultParallelism, words // (PAGES_IN_A_PART * 600), 1)
    # About one word in eight is a key that two pages have.
    return parts, (words // 8).bit_length() + SPARE_BITS


def met(found: Pages, plan: str, tally: Tally) -> Met:
    """Lets the keys of all pages meet, part by part. The edges are stored by the executors."""
    spark = found.blobs.spark
    counts, how = rarity(found, tally), packing(spark, tally.words)
    keyed = spark.sparkContext.broadcast(counts.to_bytes()), how
    keys = found.tables.mapped(_passes.keys(plan, keyed)).placed(how[0])
    edges = keys.mapped(_passes.key_edges(plan)).stored()
    numbers = [json.loads(data) for data in edges.between(NUMBERS, NUMBERS).collect()]
    return Met(edges, sum(one["edges"] for one in numbers), [name for one in numbers for name in one["repeated"]])


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


def placed(found: Met, tuning: Tuning) -> Placed:
    """Makes sets of edges, and places sets in bins. Frees the edges."""
    edges = found.edges.between(TABLE, TABLE)
    if found.count <= tuning.edges_in_a_task:
        places = of_table(edges.spark, pyarrow.concat_tables(map(unpacked, edges.collect())), tuning)
    else:
        kind = "node long, root long, words long, pages long"
        places = of_frame(stored(edges.frame(_passes.unpack(["node", "root", "words", "pages"]), kind)), tuning)
    found.edges.unpersist()
    return places


def of_table(spark: Any, edges: Any, tuning: Tuning) -> Placed:
    """The places of contents by a table of edges: `node`, `root`, `words`, `pages`."""
    least = spark.sparkContext.defaultParallelism
    places = pyarrow.table(_onecopy.set_bins(edges, tuning.task_words, least))
    bins = compute.max(places["bin"]).as_py()
    sent = spark.sparkContext.broadcast(packed(places))
    return Placed(spark.createDataFrame(places), sent, 0 if bins is None else bins + 1, places["bin"].null_count)


def of_frame(edges: Any, tuning: Tuning) -> Placed:
    """As `of_table`, for more edges than a task connects."""
    places = weighed(edges, components(edges, tuning.edges_in_a_task), tuning)
    numbers = F.max("bin").alias("bin"), F.count_if(F.col("bin").isNull()).alias("large")
    frame, found = measured(places, *numbers)
    return Placed(frame, None, 0 if found["bin"] is None else found["bin"] + 1, found["large"])


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
