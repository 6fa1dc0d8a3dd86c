"""From pages to decisions: runs the stages in order. Both a whole run and an update end here."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from pyspark.sql import functions as F

from .. import _onecopy
from . import _stages
from ._candidates import Tuning
from ._store import stored
from ._tables import over_groups

PARTS = ["page", "fingerprint", "rank", "sketch", "identity", "flags"]

# Each round looks at all sketches. Instead of more rounds, sketches move to their bins by way of their nodes.
MOST_ROUNDS = 4


class Deciding(NamedTuple):
    """What all steps of a decision need: the plan, the type of names, and the tuning."""

    plan: str
    kind: str
    tuning: Tuning


def decisions_kind(kind: str) -> str:
    """The columns of decisions, for pages with names of this type."""
    return f"page {kind}, winner {kind}, similarity double, kind string, group {kind}, members int"


def compared(facts: Any, followed: Optional[Any]) -> Any:
    """The pages that are compared, each with the pages that it names as its own in `named`."""
    if followed is None:
        return facts
    stands = followed.where("not tested").select("page")
    tested = followed.where("tested").groupBy("page").agg(F.collect_set("target").alias("named"))
    return facts.join(stands, "page", "left_anti").join(tested, "page", "left")


def planned(bins: Any, pages: Any, path: Any) -> Any:
    """The bins of a saved plan: sets whose first contents have about one length are settled by one machine.

    A machine has as many bins as tasks need. Sets without a bin are too large for a task, and stay so.
    """
    partitions, machines = _onecopy.read_partitions(path)
    share = 1 + (bins.agg(F.max("bin")).first()[0] or 0) // machines
    first = bins.where("node = component and bin is not null").select("node", "component")
    named = pages.select("node", "sketch").join(F.broadcast(first), "node").dropDuplicates(["component"])
    run = _stages.machines(partitions)
    of_sets = named.select("component", "sketch").mapInArrow(run, "component long, machine int")
    number = F.col("machine") * share + F.pmod(F.xxhash64("component"), F.lit(share)).cast("int")
    found = bins.join(of_sets.select("component", number.alias("planned")), "component", "left")
    return stored(found.select("node", "component", F.when(F.col("bin").isNotNull(), F.coalesce("planned", "bin")).alias("bin")))


def settled(pages: Any, bins: Any, nodes: int, context: Deciding, whole: Optional[Any] = None) -> Any:
    """Decides about the pages of all bins. Pages in none are kept, and in no group.

    `whole` has these pages before they became rows, if no page names another as its own.
    """
    rounds = 1 + nodes // context.tuning.bins_at_once
    placed = bins.where("bin is not null")
    packed = whole.packed(placed) if whole is not None and rounds == 1 else None
    if packed is None:
        packed = placed_rows(pages, placed, rounds).mapInArrow(_stages.pack(), _stages.PACKED)
    return over_groups(packed, "bin", _stages.settle_packed(context.plan), decisions_kind(context.kind))


def placed_rows(pages: Any, placed: Any, rounds: int) -> Any:
    """The pages of bins, with `component` and `bin`."""
    columns, near = [*PARTS, *(["named"] if "named" in pages.columns else [])], None
    if rounds > MOST_ROUNDS:
        near, rounds = pages.join(placed, "node").select(*columns, "component", "bin"), 0
    for number in range(rounds):
        # Sent to all executors, so that sketches move only to their bins.
        own = placed.where(F.pmod(F.xxhash64("node"), F.lit(rounds)) == number) if rounds > 1 else placed
        met = pages.join(F.broadcast(own), "node").select(*columns, "component", "bin")
        near = met if near is None else near.unionByName(met)
    return near


def shared(decisions: Any, followed: Optional[Any]) -> Any:
    """Adds the pages that stand for another: they share its fate."""
    alone = F.when(F.col("members") > 1, F.col("group"))
    decisions = decisions.withColumn("group", alone).drop("members")
    if followed is None:
        return decisions
    stands = followed.where("not tested and target is not null").select("page", "target", "revisit")
    targets = stands.select(F.col("target").alias("page")).distinct().withColumn("meant", F.lit(True))
    # A page that others stand for is in a group with them.
    group = F.when(F.col("meant"), F.coalesce("group", "page")).otherwise(F.col("group"))
    met = stored(decisions.join(targets, "page", "full").withColumn("group", group).drop("meant"))
    fate = met.select([F.col(name).alias(f"of_{name}") for name in met.columns])
    both = stands.join(fate, stands["target"] == fate["of_page"])
    kind = F.when(~F.col("revisit"), F.lit("redirect")).otherwise(F.coalesce("of_kind", F.lit("exact")))
    added = both.select(
        "page",
        F.coalesce("of_winner", "target").alias("winner"),
        F.coalesce("of_similarity", F.lit(1.0)).alias("similarity"),
        kind.alias("kind"),
        F.col("of_group").alias("group"),
    )
    return met.unionByName(added)
