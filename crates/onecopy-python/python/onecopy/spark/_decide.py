"""From pages to decisions: runs the stages in order. Both a whole run and an update end here."""

from __future__ import annotations

from typing import Any, Optional

from pyspark.sql import functions as F

from . import _stages
from ._store import stored

PARTS = ["page", "fingerprint", "rank", "sketch", "identity", "flags"]


def decisions_kind(kind: str) -> str:
    """The columns of decisions, for pages with names of this type."""
    return f"page {kind}, winner {kind}, similarity double, kind string, group {kind}, members int"


def compared(facts: Any, followed: Optional[Any]) -> Any:
    """The pages that are compared, each with the pages that it names as its own in `named`."""
    if followed is None:
        return facts.withColumn("named", F.array().cast("array<string>"))
    stands = followed.where("not tested").select("page")
    tested = followed.where("tested").groupBy("page").agg(F.collect_set("target").alias("named"))
    return facts.join(stands, "page", "left_anti").join(tested, "page", "left")


def settled(pages: Any, bins: Any, plan: str, kind: str) -> Any:
    """Decides about the pages of all bins. Pages in none are kept, and in no group."""
    near = pages.join(bins.where("bin is not null"), "node").select(*PARTS, "named", "bin")
    return near.groupBy("bin").applyInArrow(_stages.settle(plan), decisions_kind(kind))


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
