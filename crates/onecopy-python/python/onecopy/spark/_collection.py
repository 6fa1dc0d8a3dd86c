"""`onecopy.spark.update`: a collection of pages in Parquet files that is kept up to date.

An update looks only at the sets of contents that a changed page is in or beside. Decisions about all others stay.
"""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Optional, Union

from pyspark.sql import functions as F

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _candidates, _decide, _large, _stages
from ._candidates import Tuning
from ._dedup import complete, plan_of
from ._errors import told_plainly
from ._feed import changes, statuses
from ._links import followed
from ._pages import Pages, check, measure, pages, settings
from ._store import stored
from ._tally import Tally
from ._versions import Store

# The facts of pages in so many tables are merged into one.
SEGMENTS = 8
# The bits of keys that a collection keeps, enough for some billion pages.
KEY_BITS = 48
# Fresh keys of so many bytes are sent to all executors. Those of more pages meet the others in a shuffle.
KEYS_TO_SEND = 64 << 20
# So many names of changed pages are sent to all executors.
NAMES_TO_SEND = 1_000_000


class Updated(NamedTuple):
    """A version of a collection. All but the first are data frames.

    version   its number
    pages     page, status, winner, similarity, kind, group, reason of every page
    feed      the same for pages that changed with this version, and what was `before`
    """

    version: int
    pages: Any
    feed: Any


class Fresh(NamedTuple):
    """What an update brings: facts of new and changed pages, and the names of dead ones."""

    facts: Any
    dead: Any
    kind: str


def update(
    collection: str,
    new_pages: Any,
    *,
    dead: Union[Any, Iterable[Any], None] = None,
    tuning: Tuning = Tuning(),
    **options: Any,
) -> Updated:
    """Adds pages to the collection in a folder, replaces pages of the same name, and forgets `dead` ones.

    The folder can be on any file system that Spark knows. The first update begins the collection, with the options of
    `onecopy.spark.dedup`; they are kept with it. The answer equals that of a whole run over all pages. If two updates
    run at once, the one that ends last fails, and has written nothing.
    """
    store = Store(new_pages.sparkSession, collection)
    state = store.current()
    given = complete(options)
    with told_plainly(), settings(store.spark):
        plan = plan_of(given) if state is None or options else state["plan"]
        if state is not None and plan != state["plan"]:
            raise OnecopyError(f"{collection}: it was begun with other options: leave them out, or begin a new collection")
        fields = state["fields"] if state else {name: value for name, value in given.items() if name.endswith("_field")}
        bits = tuning.rarity_bits if state is None else 0
        found = named(pages(new_pages, plan, fields, bits), state, collection)
        try:
            return Update(store, state, found, plan, tuning).run(dead, fields)
        finally:
            found.stored.unpersist()


def named(found: Pages, state: Optional[dict[str, Any]], collection: str) -> Pages:
    """Refuses pages that are named by another column than those of the collection."""
    if state is not None and [found.page, found.kind] != [state["page"], state["kind"]]:
        raise OnecopyError(
            f"{collection}: its pages are named by `{state['page']}` ({state['kind']}), "
            f"and the new ones by `{found.page}` ({found.kind}): give the same column"
        )
    return found


def sent_if_few(names: Any) -> Any:
    """The names, sent to all executors if they are few, so that the facts of pages need not move."""
    return F.broadcast(names) if names.count() <= NAMES_TO_SEND else names


class Update:
    """One update: the tables of the version before, and the steps to the next."""

    def __init__(self, store: Store, state: Optional[dict[str, Any]], found: Pages, plan: str, tuning: Tuning) -> None:
        self.store, self.found, self.plan, self.tuning = store, found, plan, tuning
        self.state = state or {"version": 0, "segments": [], "tables": None}
        self.version = self.state["version"] + 1
        self.tables = store.new_tables(self.version)

    def run(self, dead: Any, fields: dict[str, Any]) -> Updated:
        """Runs all steps. Nothing is visible to others before the last."""
        try:
            tally = self._check()
            fresh = Fresh(self.found.facts, self._names(dead), self.found.kind)
            rarity, parts = self._rarity(tally)
            fresh = fresh._replace(facts=self._write("facts", fresh.facts))
            keys = self._write("keys", self._keys(fresh.facts, rarity, parts))
            old = self._old_facts(fresh)
            self._decide(fresh, old, keys)
            segments = self._segments(fresh, old)
            kept = {"page": self.found.page, "kind": self.found.kind, "plan": self.plan, "fields": fields}
            self.store.publish(
                {"version": self.version, "tables": self.tables, "segments": segments, "parts": parts,
                 "rarity": rarity, **kept}
            )
        except BaseException:
            self.store.delete(self.store.path(self.tables))
            raise
        return Updated(self.version, self._table("pages"), self._table("feed"))

    def _check(self) -> Optional[Tally]:
        tally = check(self.found) if self.state["tables"] is None else measure(self.found)
        named = self.found.facts.groupBy("page").count().where("count > 1").orderBy("page").first()
        if named is not None:
            raise OnecopyError(
                f"{named['count']} rows have the same `{self.found.page}`: {named['page']!r}. Give each page its own"
            )
        return tally

    def _names(self, dead: Any) -> Any:
        """The names of dead pages as a frame."""
        kind = f"page {self.found.kind}"
        if dead is None:
            return self.store.spark.createDataFrame([], kind)
        if hasattr(dead, "sparkSession"):
            return stored(dead.select(F.col(dead.columns[0]).cast(self.found.kind).alias("page")))
        return self.store.spark.createDataFrame([(name,) for name in dead], kind)

    def _rarity(self, tally: Optional[Tally]) -> tuple[str, int]:
        """The table of rarity and the number of parts, which stay as they were when the collection began."""
        if tally is None or "rarity" in self.state:
            return self.state["rarity"], self.state["parts"]
        counters = bytearray(_onecopy.open_rarity(_candidates.rarity(tally)).to_bytes())
        table = self.store.spark.createDataFrame([(counters,)], "counts binary")
        self._write("rarity", table)
        return f"{self.tables}/rarity", max(_candidates.packing(self.store.spark, tally.words)[0], 4)

    def _keys(self, facts: Any, rarity: str, parts: int) -> Any:
        counts = bytes(self.store.spark.read.parquet(self.store.path(rarity)).first()["counts"])
        return _candidates.key_parts(facts.where("reason is null"), self.plan, counts, (parts, KEY_BITS))

    def _old_facts(self, fresh: Fresh) -> Optional[Any]:
        """The facts of pages that the update does not touch."""
        gone = fresh.facts.select("page").union(fresh.dead)
        found = None
        for segment in reversed(self.state["segments"]):
            facts = self.store.spark.read.parquet(self.store.path(segment, "facts"))
            left = facts.join(sent_if_few(gone), "page", "left_anti")
            found = left if found is None else found.unionByName(left)
            gone = gone.union(facts.select("page"))
            gone = gone.union(self.store.spark.read.parquet(self.store.path(segment, "dead")))
        return found

    def _decide(self, fresh: Fresh, old: Optional[Any], keys: Any) -> None:
        """Decides about what changed, and writes all tables of the version."""
        facts = fresh.facts if old is None else fresh.facts.unionByName(old)
        judged = facts.where("reason is null")
        leads = followed(judged, fresh.kind, self.tuning.edges_in_a_task)
        touched = self._touched(fresh, leads)
        sets, changed = self._sets(keys, touched)
        edges = changed.select("node", F.col("component").alias("root"), "words", F.lit(1).cast("long").alias("pages"))
        bins, placed = _candidates.bins(edges, changed.count(), self.tuning)
        near = _decide.compared(judged, leads)
        context = _decide.Deciding(self.plan, fresh.kind, self.tuning)
        of_bins = _decide.settled(near, bins, placed["nodes"], context)
        if placed["large"]:
            of_bins = of_bins.unionByName(_large.settled(near, bins, context))
        of_bins = stored(of_bins)
        self._write("sets", sets)
        settled = self._write("settled", self._kept_decisions(of_bins, fresh, leads))
        self._write("leads", leads if leads is not None else self._no_leads(fresh.kind))
        self._write("dead", fresh.dead)
        decided = _decide.shared(settled, leads)
        rejected = facts.where("reason is not null").select("page", "reason")
        if leads is not None:
            rejected = rejected.union(leads.where("reason is not null").select("page", "reason"))
        table = self._write("pages", statuses(facts.select("page"), decided, rejected))
        self._write("feed", changes(self._old("pages"), table))

    def _touched(self, fresh: Fresh, leads: Optional[Any]) -> Any:
        """The nodes of changed pages: as they were, as they are, and of pages whose links lead elsewhere now."""
        nodes = fresh.facts.where("reason is null").select("node")
        if self.state["tables"] is None:
            return nodes.limit(0)
        gone = fresh.facts.select("page").union(fresh.dead)
        before = self._all_facts().select("page", "node", "reason").where("reason is null")
        nodes = nodes.union(before.join(gone, "page", "left_semi").select("node"))
        was, leads = self._old("leads"), leads if leads is not None else self._no_leads(fresh.kind)
        parts = ["page", "target", "revisit", "tested"]
        was, leads = was.select(parts), leads.select(parts)
        moved = was.exceptAll(leads).union(leads.exceptAll(was)).select("page").distinct()
        nodes = nodes.union(before.join(moved, "page", "left_semi").select("node"))
        return stored(nodes.distinct())

    def _all_facts(self) -> Any:
        """The facts of all segments, of old versions of pages, too."""
        paths = [self.store.path(segment, "facts") for segment in self.state["segments"]]
        return self.store.spark.read.parquet(*paths)

    def _sets(self, keys: Any, touched: Any) -> tuple[Any, Any]:
        """All sets of contents that may be similar, and those of them that the update changes."""
        edges = stored(self._edges(keys))
        own = touched.select("node", F.col("node").alias("root"))
        pairs = edges.select("node", "root").union(own)
        sizes = edges.groupBy("node").agg((F.max("words") * F.max("pages")).alias("words"))
        if self.state["tables"] is None:
            found = _candidates.components(pairs, self.tuning.edges_in_a_task)
            return self._weighed(found, sizes)
        before = self._old("sets")
        met = stored(pairs.select("node").union(pairs.select("root")).distinct())
        place = stored(before.join(met, "node").select("node", "component"))
        at = lambda name: place.select(F.col("node").alias(name), F.col("component").alias(f"at_{name}"))
        quotient = pairs.join(at("node"), "node", "left").join(at("root"), "root", "left").select(
            F.coalesce("at_node", "node").alias("node"), F.coalesce("at_root", "root").alias("root")
        )
        merged = _candidates.components(quotient, self.tuning.edges_in_a_task).toDF("was", "component")
        known = before.withColumnRenamed("component", "was").join(merged, "was")
        known = known.select("node", "component", "words")
        added = met.join(place.select("node"), "node", "left_anti")
        added = added.join(merged.withColumnRenamed("was", "node"), "node").join(sizes, "node", "left")
        changed = stored(known.unionByName(added.withColumn("words", F.coalesce("words", F.lit(1)))))
        left = before.join(merged, before["component"] == merged["was"], "left_anti")
        return left.unionByName(changed), changed

    def _edges(self, keys: Any) -> Any:
        """Edges from fresh contents, and from those beside them. A few fresh keys are sent to all others."""
        kind, spark = "node long, root long, words long, pages long", self.store.spark
        fresh = keys.withColumn("fresh", F.lit(1))
        paths = [self.store.path(segment, "keys") for segment in self.state["segments"]]
        old = spark.read.parquet(*paths) if paths else None
        if old is not None and (keys.agg(F.sum(F.length("keys"))).first()[0] or 0) <= KEYS_TO_SEND:
            rows = keys.collect()
            sent = {"part": [row["part"] for row in rows], "keys": [bytes(row["keys"]) for row in rows]}
            run = _stages.edges_to(self.plan, spark.sparkContext.broadcast(sent))
            met = old.mapInArrow(run, kind)
            return met.unionByName(fresh.groupBy("part").applyInArrow(_stages.fresh_edges(self.plan), kind))
        if old is not None:
            fresh = fresh.unionByName(old.withColumn("fresh", F.lit(0)))
        return fresh.groupBy("part").applyInArrow(_stages.fresh_edges(self.plan), kind)

    def _weighed(self, sets: Any, sizes: Any) -> tuple[Any, Any]:
        found = stored(sets.join(sizes, "node", "left").withColumn("words", F.coalesce("words", F.lit(1))))
        return found, found

    def _kept_decisions(self, of_bins: Any, fresh: Fresh, leads: Optional[Any]) -> Any:
        """The decisions of now, and those of before that the update does not touch."""
        if self.state["tables"] is None:
            return of_bins
        touched = of_bins.select("page").union(fresh.facts.select("page")).union(fresh.dead)
        if leads is not None:
            touched = touched.union(leads.where("not tested").select("page"))
        return self._old("settled").join(touched.distinct(), "page", "left_anti").unionByName(of_bins)

    def _segments(self, fresh: Fresh, old: Optional[Any]) -> list[str]:
        """The tables with the facts of all pages. Too many are merged."""
        segments = [*self.state["segments"], self.tables]
        if len(segments) <= SEGMENTS:
            return segments
        merged = f"{self.tables}/merged"
        facts = fresh.facts.unionByName(old)
        facts.write.parquet(self.store.path(merged, "facts"))
        self._keys(facts, self.state["rarity"], self.state["parts"]).write.parquet(self.store.path(merged, "keys"))
        fresh.dead.write.parquet(self.store.path(merged, "dead"))
        return [merged]

    def _no_leads(self, kind: str) -> Any:
        schema = f"page {kind}, target {kind}, revisit boolean, reason string, tested boolean"
        return self.store.spark.createDataFrame([], schema)

    def _old(self, name: str) -> Optional[Any]:
        if self.state["tables"] is None:
            return None
        return self.store.spark.read.parquet(self.store.path(self.state["tables"], name))

    def _table(self, name: str) -> Any:
        return self.store.spark.read.parquet(self.store.path(self.tables, name))

    def _write(self, name: str, frame: Any) -> Any:
        frame.write.parquet(self.store.path(self.tables, name))
        return self._table(name)
