"""Which contents may be similar: keys, sets of contents that share one, and the bins that sets are settled in."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.sql import functions as F

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _stages
from ._store import stored

# Counters of rarity, as a power of two. More of them make fewer keys, and each task sends a table of them.
LEAST_BITS, MOST_BITS = 12, 25
# Keys of about this many pages fit into a task.
PAGES_IN_A_PART = 50_000


class Tuning(NamedTuple):
    """What changes the speed, never the answer."""

    # Words of sketches that a task settles together. A set with more is divided.
    task_words: int = 8_000_000
    # Edges that one task connects. More are connected in rounds.
    edges_in_a_task: int = 20_000_000


def rarity(facts: Any, words: int) -> bytes:
    """How common shingles are, in a table that is sent to all executors."""
    bits = min(max(LEAST_BITS, (words // 2).bit_length()), MOST_BITS)
    # Every task sends a table, so there are only as many tasks as cores.
    whole = facts.select("sketch").coalesce(facts.sparkSession.sparkContext.defaultParallelism)
    tables = whole.mapInArrow(_stages.count(bits), "slot int, counters binary")
    merged = tables.groupBy("slot").applyInArrow(_stages.merge(), "slot int, counters binary")
    counts = _stages.merged(bytes(row["counters"]) for row in merged.collect())
    return (counts or _onecopy.Rarity(LEAST_BITS)).to_bytes()


def key_parts(facts: Any, plan: str, counts: bytes, words: int) -> Any:
    """The keys of pages, packed by part."""
    context = facts.sparkSession.sparkContext
    parts = max(context.defaultParallelism, words // (PAGES_IN_A_PART * 600), 1)
    run = _stages.key_parts(plan, context.broadcast(counts), parts)
    return facts.select("node", "name", "sketch").mapInArrow(run, "part int, keys binary")


def edges(parts: Any, plan: str) -> Any:
    """Edges between contents that may be similar, stored by the executors."""
    found = parts.groupBy("part").applyInArrow(
        _stages.key_edges(plan), "node long, root long, words long, pages long, repeated long"
    )
    return stored(found)


def check_names(facts: Any, found: Any, page: str) -> None:
    """Refuses two pages with one name."""
    repeated = [row["repeated"] for row in found.where("repeated is not null").select("repeated").head(100)]
    if not repeated:
        return
    named = facts.where(F.col("name").isin(repeated)).groupBy("page").count().where("count > 1")
    first = named.orderBy("page").first()
    if first is not None:
        raise OnecopyError(
            f"{first['count']} rows have the same `{page}`: {first['page']!r}. "
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


def bins(found: Any, sets: Any, tuning: Tuning) -> Any:
    """The set of each node, and the bin that it is settled in: `node`, `component`, `bin`. Large sets have none."""
    weights = found.where("node is not null").groupBy("node").agg(
        (F.greatest(F.max("words"), F.lit(1)) * F.max("pages")).alias("words")
    )
    weighed = sets.join(weights, "node")
    whole = stored(weighed.groupBy("component").agg(F.sum("words").alias("total")))
    total = whole.agg(F.sum("total")).first()[0] or 0
    least = found.sparkSession.sparkContext.defaultParallelism
    count = max(least, 1 + 2 * total // tuning.task_words)
    bin_of = F.when(F.col("total") <= tuning.task_words, F.pmod(F.xxhash64("component"), F.lit(count)).cast("int"))
    return stored(weighed.join(whole.withColumn("bin", bin_of), "component").select("node", "component", "bin"))
