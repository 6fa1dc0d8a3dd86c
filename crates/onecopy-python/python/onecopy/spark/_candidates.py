"""Which contents may be similar: keys, sets of contents that share one, and the bins that sets are settled in."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from pyspark.sql import functions as F

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _stages
from ._store import measured, stored
from ._tables import over_groups
from ._tally import Tally

# The fewest counters of rarity, as a power of two.
LEAST_BITS = 12
# Keys of about this many pages fit into a task.
PAGES_IN_A_PART = 50_000
# So many more bits of a key travel than keys need to be told apart: few pages meet by chance.
SPARE_BITS = 13


class Tuning(NamedTuple):
    """What changes the speed, never the answer."""

    # Words of sketches that a task settles together. A set with more is divided.
    task_words: int = 8_000_000
    # Edges that one task connects. More are connected in rounds.
    edges_in_a_task: int = 20_000_000
    # Contents in sets that are sent to all executors together, with their bins. More are sent in rounds.
    bins_at_once: int = 20_000_000
    # Counters of rarity, as a power of two. More make fewer keys, and each task needs 1.25 bytes for each.
    rarity_bits: int = 25


def rarity_bits(words: Optional[int], tuning: Tuning) -> int:
    """The bits of tables that count about so many words. Larger tables make fewer keys, and smaller ones are faster."""
    return tuning.rarity_bits if words is None else min(tuning.rarity_bits, max(LEAST_BITS, (words // 8).bit_length()))


def rarity(tally: Tally) -> Any:
    """How common shingles are, in a table that is sent to all executors."""
    return _onecopy.fold_rarity(tally.rarity, max(LEAST_BITS, (tally.words // 2).bit_length()))


def packing(spark: Any, words: int) -> _stages.Packing:
    """How the keys of a run are packed."""
    parts = max(spark.sparkContext.defaultParallelism, words // (PAGES_IN_A_PART * 600), 1)
    # About one word in eight is a key that two pages have.
    return parts, (words // 8).bit_length() + SPARE_BITS, False


def edges(parts: Any, plan: str) -> tuple[Any, Any]:
    """Edges between contents that may be similar, stored by the executors; how many, and how many repeated names."""
    columns = "node long, root long, words long, pages long, repeated long"
    found = over_groups(parts, "part", _stages.key_edges(plan), columns)
    return measured(found, F.count("node").alias("edges"), F.count("repeated").alias("repeated"))


def check_names(facts: Any, found: Any, page: str) -> None:
    """Refuses two judged pages with one name."""
    repeated = [row["repeated"] for row in found.where("repeated is not null").select("repeated").head(100)]
    refuse_repeated(facts.where(F.col("name").isin(repeated)), page)


def check_rejected(facts: Any, page: str) -> None:
    """Refuses a rejected page with the name of another: one of them would be lost from `kept`."""
    rejected = facts.where("reason is not null").select("page").distinct()
    refuse_repeated(facts.join(rejected, "page", "left_semi"), page)


def refuse_repeated(facts: Any, page: str) -> None:
    first = facts.groupBy("page").count().where("count > 1").orderBy("page").first()
    if first is not None:
        raise OnecopyError(
            f"{first['count']} rows have the same `{page}`: {first['page']!r}. "
            "Results name pages by it, so give each page its own, or choose another column with id_field"
        )


def components(edges: Any, limit: int) -> Any:
    """The set of each node of `edges` (`node`, `root`), named by one of its nodes: `node`, `component`."""
    pairs = edges.select("node", "root")
    if pairs.count() <= limit:
        return stored(over_groups(pairs, None, _stages.connect_nodes(), "node long, component long"))
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


def bins(found: Any, edges: int, tuning: Tuning) -> tuple[Any, Any]:
    """The set of each node, and the bin that it is settled in: `node`, `component`, `bin`. Large sets have none.

    Also how many `nodes` there are, and how many have no bin (`large`).
    """
    least = found.sparkSession.sparkContext.defaultParallelism
    if edges <= tuning.edges_in_a_task:
        run = _stages.set_bins(tuning.task_words, least)
        placed = over_groups(found, None, run, "node long, component long, bin int")
    else:
        placed = weighed(found, components(found, tuning.edges_in_a_task), tuning)
    large = F.count_if(F.col("bin").isNull()).alias("large")
    return measured(placed, F.count("node").alias("nodes"), large)


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
