"""The status of every page, and how it changed."""

from __future__ import annotations

from typing import Any, Optional

from pyspark.sql import functions as F

PARTS = ["status", "winner", "similarity", "kind", "group", "reason"]


def pages_kind(kind: str) -> str:
    """The columns of statuses, for pages with names of this type."""
    return f"page {kind}, status string, winner {kind}, similarity double, kind string, group {kind}, reason string"


def statuses(pages: Any, decided: Any, rejected: Any) -> Any:
    """The status of every page: `kept`, `removed` or `rejected`, and why."""
    found = pages.join(decided, "page", "left").join(rejected, "page", "left")
    status = F.when(F.col("reason").isNotNull(), "rejected").when(F.col("winner").isNotNull(), "removed").otherwise("kept")
    return found.withColumn("status", status).select("page", *PARTS)


def changes(before: Optional[Any], after: Any) -> Any:
    """The pages whose status changed, with the status `before`; nothing there for new pages. Forgotten pages are dead."""
    if before is None:
        return after.withColumn("before", F.lit(None).cast("string"))
    was = before.select("page", *[F.col(name).alias(f"was_{name}") for name in PARTS])
    both = after.join(was, "page", "full")
    same = F.lit(True)
    for name in PARTS:
        same = same & F.col(name).eqNullSafe(F.col(f"was_{name}"))
    moved = both.where(~same).withColumn("status", F.coalesce("status", F.lit("dead")))
    return moved.select("page", *PARTS, F.col("was_status").alias("before"))
