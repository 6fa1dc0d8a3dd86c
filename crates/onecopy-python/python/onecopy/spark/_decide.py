"""From pages to decisions: runs the stages in order. Both a whole run and an update end here."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from .. import _onecopy
from . import _large, _passes, _stages
from ._blobs import Blobs, batches, made
from ._candidates import Placed, Tuning
from ._feed import decisions_kind
from ._pages import Pages
from ._store import stored

PARTS = ["page", "fingerprint", "rank", "sketch", "identity", "flags"]


class Deciding(NamedTuple):
    """What all steps of a decision need: the plan, the type of names, and the tuning."""

    plan: str
    kind: str
    tuning: Tuning


def near_pages(found: Pages, placed: Placed) -> Any:
    """The pages in sets: what a task must know of each, with its `component` and `bin`."""
    if placed.sent is not None:
        return found.frame(PARTS, placed.sent)
    judged = found.frame([*PARTS, "node", "reason"]).where("reason is null").drop("reason")
    return judged.join(placed.frame, "node").drop("node")


def compared(near: Any, followed: Optional[Any]) -> Any:
    """The pages that are compared, each with the pages that it names as its own in `named`."""
    if followed is None:
        return near
    stands = followed.where("not tested").select("page")
    tested = followed.where("tested").groupBy("page").agg(F.collect_set("target").alias("named"))
    return near.join(stands, "page", "left_anti").join(tested, "page", "left")


def planned(found: Pages, placed: Placed, path: Any) -> Placed:
    """The bins of a saved plan: sets whose first contents have about one length are settled by one machine.

    A machine has as many bins as tasks need. Sets without a bin are too large for a task, and stay so.
    """
    partitions, machines = _onecopy.read_partitions(path)
    share = 1 + max(placed.bins - 1, 0) // machines
    first = found.frame(["node", "sketch"]).join(placed.frame.where("node = component and bin is not null"), "node")
    run = _stages.machines(partitions)
    of_sets = first.dropDuplicates(["component"]).select("component", "sketch").mapInArrow(run, "component long, machine int")
    number = F.col("machine") * share + F.pmod(F.xxhash64("component"), F.lit(share)).cast("int")
    joined = placed.frame.join(of_sets.select("component", number.alias("planned")), "component", "left")
    own = F.when(F.col("bin").isNotNull(), F.coalesce("planned", "bin")).alias("bin")
    return Placed(stored(joined.select("node", "component", own)), None, machines * share, placed.large)


def settled(found: Pages, placed: Placed, context: Deciding) -> Any:
    """Decides about the pages of all bins, and gives the reasons of rejected pages. Other pages are kept, and in no group."""
    return decided(found.tables.mapped(_passes.pack(placed.sent)), placed, context)


def settled_near(near: Any, placed: Placed, context: Deciding) -> Any:
    """Decides about pages with a `component` and a `bin`; those without a bin are in sets too large for a task."""
    pages = near.where("bin is not null")
    blobs = made(near.sparkSession, batches(pages), _passes.pack(None, to_arrow_schema(pages.schema)))
    of_bins = decided(blobs, placed, context).drop("reason")
    return of_bins.unionByName(_large.settled(near, context)) if placed.large else of_bins


def decided(packed: Blobs, placed: Placed, context: Deciding) -> Any:
    """Moves packed pages to their bins, and settles them."""
    kind = f"{decisions_kind(context.kind)}, reason string"
    schema = to_arrow_schema(StructType.fromDDL(kind))
    return packed.placed(max(placed.bins, 1)).frame(_passes.settle(context.plan, schema), kind)


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
