"""Settles sets whose sketches do not fit into a task. The answer is that of one task.

Contents are numbered best first and cut into blocks. A block is settled by itself, and what stays in it is compared with
all later blocks, each in its own task. Then every two blocks are grouped together.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import functions as F

from . import _stages
from ._candidates import Tuning, components
from ._decide import PARTS, Deciding, decisions_kind
from ._store import stored
from ._tables import over_groups

# Numbers of rows begin anew in each partition, above this many bits.
ROW_BITS = 33
# The bit that says that a page is in the preferred market.
FAVOURED = 1 << 8


def settled(near: Any, bins: Any, context: Deciding) -> Any:
    """Decides about the pages of sets that have no bin."""
    plan, kind, tuning = context
    if "named" not in near.columns:
        near = near.withColumn("named", F.array().cast(f"array<{kind}>"))
    pages = near.join(bins.where("bin is null").select("node"), "node").select(*PARTS, "named")
    pages = stored(ordered(pages, plan))
    contents, blocks = numbered(pages, tuning)
    removed = in_blocks(contents, blocks, plan)
    groups = grouped(contents, blocks, plan, tuning)
    return of_pages(pages, contents, removed, groups, kind)


def ordered(pages: Any, plan: str) -> Any:
    """The pages with their place in the order of preference: preferred markets first, believed canonical links last."""
    markets = json.loads(plan)["config"]["markets"]
    favoured = (F.col("flags").bitwiseAND(FAVOURED) != 0) if markets else F.lit(True)
    place = F.when(F.col("lesser"), 2).when(favoured, 0).otherwise(1)
    marked = pages.join(believed(pages, plan), "page", "left").withColumn("lesser", F.coalesce("alike", F.lit(False)))
    order = F.concat(F.unhex(F.format_string("%02d", place)), F.col("rank"))
    return marked.withColumn("order", order).drop("lesser", "alike", "named", "rank")


def believed(pages: Any, plan: str) -> Any:
    """The pages whose canonical link names a similar page: `page`, `alike`."""
    best = pages.groupBy("fingerprint").agg(F.min_by("sketch", "rank").alias("sketch"))
    names = pages.select("page", "fingerprint")
    pairs = pages.where("size(named) > 0").select("page", "fingerprint", F.explode("named").alias("target"))
    targets = names.select(F.col("page").alias("target"), F.col("fingerprint").alias("of_target"))
    pairs = pairs.join(targets, "target")
    left = best.select("fingerprint", F.col("sketch").alias("left"))
    right = best.select(F.col("fingerprint").alias("of_target"), F.col("sketch").alias("right"))
    both = pairs.join(left, "fingerprint").join(right, "of_target").select("page", "left", "right")
    kind = pages.schema["page"].dataType.simpleString()
    found = both.mapInArrow(_stages.alike(plan), f"page {kind}, alike boolean")
    return found.where("alike").distinct()


def numbered(pages: Any, tuning: Tuning) -> tuple[Any, int]:
    """The contents of pages with their numbers, best first, and how many blocks they are in."""
    best = F.min_by(F.struct("page", "sketch", "identity", "flags"), "order").alias("best")
    contents = pages.groupBy("fingerprint").agg(best, F.min("order").alias("order"))
    contents = contents.select("fingerprint", "order", "best.*")
    contents = stored(contents)
    total = contents.agg(F.sum(F.length("sketch"))).first()[0] or 0
    blocks = max(2, 1 + total // (8 * max(tuning.task_words // 2, 1)))
    sorted_ = contents.repartitionByRange(blocks, "order").sortWithinPartitions("order")
    return stored(sorted_.withColumn("number", F.monotonically_increasing_id())), blocks


def table_of(contents: Any) -> Any:
    """Contents in the columns that a task settles: their numbers are their names and ranks."""
    rank = F.unhex(F.lpad(F.hex("number"), 16, "0"))
    return contents.select(
        F.col("number").alias("page"),
        "fingerprint",
        rank.alias("rank"),
        "sketch",
        F.lit(0).cast("long").alias("identity"),
        F.col("flags").bitwiseOR(FAVOURED).alias("flags"),
        F.array().cast("array<long>").alias("named"),
    )


def block_of(column: str) -> Any:
    return F.shiftright(F.col(column), ROW_BITS)


def in_blocks(contents: Any, blocks: int, plan: str) -> Any:
    """The removed contents: `number`, `winner`, `similarity`."""
    table, kind = table_of(contents), decisions_kind("long")
    spark = contents.sparkSession
    removed = spark.createDataFrame([], "number long, winner long, similarity double")
    for block in range(blocks):
        open_ = table.join(removed.select(F.col("number").alias("page")), "page", "left_anti")
        own = open_.where(block_of("page") == block)
        within = stored(over_groups(own, None, _stages.settle(plan), kind))
        kept = own.join(within.where("winner is null").select("page"), "page")
        lost = within.where("winner is not null")
        if block + 1 < blocks:
            later = open_.where(block_of("page") > block).withColumn("task", block_of("page"))
            copies = F.explode(F.sequence(F.lit(block + 1), F.lit(blocks - 1)).cast("array<long>"))
            beside = later.unionByName(kept.withColumn("task", copies))
            across = over_groups(beside, "task", _stages.settle(plan), kind)
            lost = lost.unionByName(across.where((block_of("page") > block) & (block_of("winner") == block)))
        more = lost.select(F.col("page").alias("number"), "winner", "similarity")
        removed = stored(removed.unionByName(more))
    return removed


def grouped(contents: Any, blocks: int, plan: str, tuning: Tuning) -> Any:
    """The group of each content, by the number of its best content: `number`, `group`."""
    table = table_of(contents).withColumn("block", block_of("page"))
    other = F.explode(F.sequence(F.lit(0), F.lit(blocks - 1)).cast("array<long>"))
    paired = table.withColumn("other", other).where("block <> other")
    low, high = F.least("block", "other"), F.greatest("block", "other")
    tasks = paired.withColumn("task", low * blocks + high).drop("block", "other")
    found = over_groups(tasks, "task", _stages.settle(plan), decisions_kind("long"))
    edges = stored(found.select(F.col("page").alias("node"), F.col("group").alias("root")).distinct())
    return components(edges, tuning.edges_in_a_task).toDF("number", "group")


def of_pages(pages: Any, contents: Any, removed: Any, groups: Any, kind: str) -> Any:
    """The decision about each page: that of its content, or that it is a copy of its content's best page."""
    named = contents.select("number", "fingerprint", F.col("page").alias("best"), F.col("identity").alias("of_best"))
    won = named.select(F.col("number").alias("winner"), F.col("best").alias("by"), F.col("of_best").alias("of_by"))
    stands = named.select(F.col("number").alias("group"), F.col("best").alias("group_page"))
    fates = named.join(removed, "number", "left").join(won, "winner", "left").join(groups, "number").join(stands, "group")
    sizes = groups.join(named.select("number", "fingerprint"), "number").join(pages.select("fingerprint"), "fingerprint")
    sizes = sizes.groupBy("group").agg(F.count(F.lit(1)).cast("int").alias("members"))
    each = pages.select("page", "fingerprint", "identity").join(fates, "fingerprint").join(sizes, "group")
    lost, copy = F.col("by").isNotNull(), F.col("page") != F.col("best")
    one_address = (F.col("identity") != 0) & (F.col("identity") == F.col("of_by"))
    return each.select(
        "page",
        F.when(lost, F.col("by")).when(copy, F.col("best")).alias("winner"),
        F.when(lost, F.col("similarity")).when(copy, F.lit(1.0)).alias("similarity"),
        F.when(lost & one_address, "url").when(lost, "near").when(copy, "exact").alias("kind"),
        F.col("group_page").alias("group"),
        "members",
    )
