"""From pages to decisions: runs the stages in order. Both a whole run and an update end here."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from pyspark.sql import functions as F

from . import _stages
from ._candidates import Tuning
from ._store import stored

PARTS = ["page", "fingerprint", "rank", "sketch", "identity", "flags"]


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


def settled(pages: Any, bins: Any, nodes: int, context: Deciding) -> Any:
    """Decides about the pages of all bins. Pages in none are kept, and in no group."""
    columns = [*PARTS, *(["named"] if "named" in pages.columns else [])]
    rounds = 1 + nodes // context.tuning.bins_at_once
    placed, near = bins.where("bin is not null"), None
    for number in range(rounds):
        # Sent to all executors, so that sketches move only to their bins.
        own = placed.where(F.pmod(F.xxhash64("node"), F.lit(rounds)) == number) if rounds > 1 else placed
        met = pages.join(F.broadcast(own), "node").select(*columns, "component", "bin")
        near = met if near is None else near.unionByName(met)
    packed = near.mapInArrow(_stages.pack(), "bin int, pages binary, sketches binary")
    kind = decisions_kind(context.kind)
    return packed.groupBy("bin").applyInArrow(_stages.settle_packed(context.plan), kind)


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
