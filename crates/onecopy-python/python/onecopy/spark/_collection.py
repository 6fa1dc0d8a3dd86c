"""`onecopy.spark.update`: a collection of pages in Parquet files that is kept up to date.

An update looks only at the sets of contents that a changed page is in or beside. Decisions about all others stay, and
it writes only what it decided.
"""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Optional, Union

from pyspark.sql import functions as F

from .. import _onecopy
from .._onecopy import OnecopyError
from . import _candidates, _decide, _large, _sketches, _stages
from ._small import segment as small
from ._candidates import Tuning
from ._dedup import complete, plan_of
from ._errors import told_plainly
from ._feed import changes
from ._links import followed
from ._merge import merge
from ._pages import Pages, check, key_parts, measure, pages, settings
from ._segments import NAMES_TO_SEND, Segment, Segments
from ._statuses import Now, statuses_now
from ._store import measured, stored, write_plain
from ._tables import over_groups
from ._tally import Tally
from ._versions import Store

# More segments than these are merged into one.
SEGMENTS = 8
# The bits of keys that a collection keeps, enough for some billion pages.
KEY_BITS = 48
# Fresh keys of so many bytes are sent to all executors. Those of more pages meet the others in a shuffle.
KEYS_TO_SEND = 64 << 20


class Updated(NamedTuple):
    """A version of a collection. All but the first are data frames.

    version   its number
    pages     page, status, winner, similarity, kind, group, reason of every page
    feed      the same for pages that changed with this version, and what was `before`
    """

    version: int
    pages: Any
    feed: Any


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
        bits, keyed = (tuning.rarity_bits, None) if state is None else (0, keying(store, state))
        found = named(pages(new_pages, plan, fields, lambda _: bits, keyed), state, collection)
        try:
            return Update(store, state, found, plan, tuning).run(dead, fields)
        finally:
            found.free()


def current(spark: Any, collection: str) -> Updated:
    """The current version of the collection in a folder."""
    store = Store(spark, collection)
    state = store.current()
    if state is None:
        raise OnecopyError(f"{collection}: there is no collection: begin one with onecopy.spark.update")
    return version_of(store, state)


def version_of(store: Store, state: dict[str, Any]) -> Updated:
    """A version that is written."""
    segments = Segments(store, [Segment(*part) for part in state["segments"]], state["kind"])
    return Updated(state["version"], segments.latest("pages"), segments.read("feed", state["tables"]))


def keying(store: Store, state: dict[str, Any]) -> tuple[Any, _stages.Packing]:
    """How the keys of a collection are made: how common shingles are, and how keys are packed."""
    table, packing = state["rarity"], (state["parts"], KEY_BITS, True)
    return store.full(table) if _sketches.can_open(store.files(table)) else rarity_sent(store, table), packing


def rarity_sent(store: Store, table: str) -> Any:
    """How common shingles are, sent to all executors."""
    counts = store.spark.read.schema("counts binary").parquet(store.path(table)).first()["counts"]
    return store.spark.sparkContext.broadcast(bytes(counts))


def named(found: Pages, state: Optional[dict[str, Any]], collection: str) -> Pages:
    """Refuses pages that are named by another column than those of the collection."""
    if state is not None and [found.page, found.kind] != [state["page"], state["kind"]]:
        raise OnecopyError(
            f"{collection}: its pages are named by `{state['page']}` ({state['kind']}), "
            f"and the new ones by `{found.page}` ({found.kind}): give the same column"
        )
    return found


class Update:
    """One update: the segments of the version before, and the steps to the next."""

    def __init__(self, store: Store, state: Optional[dict[str, Any]], found: Pages, plan: str, tuning: Tuning) -> None:
        self.store, self.found, self.plan, self.tuning = store, found, plan, tuning
        self.state = state or {"version": 0, "segments": [], "tables": None, "linked": False}
        self.version = self.state["version"] + 1
        self.tables = store.new_tables(self.version)
        self.old = Segments(store, [Segment(*part) for part in self.state["segments"]], found.kind)
        self.fresh = found.narrow
        self.judged = found.facts.where("reason is null")

    def run(self, dead: Any, fields: dict[str, Any]) -> Updated:
        """Runs all steps. Nothing is visible to others before the last."""
        try:
            tally = measure(self.found) if self.old.parts else check(self.found)
            self.linked = self.state["linked"] or bool(tally and tally.linked)
            pages = self._small_segment(tally.rows if tally else 0, dead)
            rarity, parts, pages = self._segment(tally, dead) if pages is None else (*self._keyed(), pages)
            kept = {"page": self.found.page, "kind": self.found.kind, "plan": self.plan, "fields": fields}
            state = {"version": self.version, "tables": self.tables, "parts": parts, "rarity": rarity, **kept}
            segments = [*self.old.parts, Segment(self.tables, pages)]
            if len(segments) > SEGMENTS:
                keys_of = lambda facts: self._keys(facts, rarity, parts)
                segments = [merge(self.old._replace(parts=segments), f"{self.tables}/merged", keys_of)]
            state |= {"segments": segments, "linked": self.linked}
            self.store.publish(state)
        except BaseException:
            self.store.delete(self.store.path(self.tables))
            raise
        return version_of(self.store, state)

    def repeated(self, name: Any, count: int) -> str:
        """What is wrong with a name that several rows have."""
        return f"{count} rows have the same `{self.found.page}`: {name!r}. Give each page its own"

    def _small_segment(self, rows: int, dead: Any) -> Optional[int]:
        """Writes all tables of the version without Spark's joins, and returns how many pages they have.

        Nothing if there are too many pages, if there are links, or if pyarrow does not know the file system.
        """
        paths = [path for part in self.old.parts[:1] for path in self.store.files(part.tables, "keys")[:1]]
        if self.linked or rows > small.PAGES or not paths or not _sketches.can_open(paths):
            return None
        names = small.names_of(dead, self.old.arrow("dead").field("page").type)
        return None if names is None else small.SmallSegment(self, names).write()

    def _segment(self, tally: Optional[Tally], dead: Any) -> tuple[str, int, int]:
        """Writes all tables of the version. Returns the table of rarity, the parts of keys, and how many pages there are."""
        row = self.fresh.groupBy("page").count().where("count > 1").orderBy("page").first()
        if row is not None:
            raise OnecopyError(self.repeated(row["page"], row["count"]))
        self.dead = self._names(dead)
        self.gone, known = measured(self.fresh.select("page").union(self.dead), F.count("page").alias("pages"))
        if self.old.parts:
            rarity, parts = self._keyed()
            keys = self.found.keys
        else:
            rarity, parts = self._rarity(tally)
            keys = self.found.key_parts(self.plan, rarity_sent(self.store, rarity), (parts, KEY_BITS, True))
        write_plain(keys, "keys", self.store.path(self.tables, "keys"))
        keys = self.old.read("keys", self.tables).drop("size")
        return rarity, parts, self._decide(keys, known["pages"])

    def _keyed(self) -> tuple[str, int]:
        """The table of rarity and the number of parts, which stay as they were when the collection began."""
        return self.state["rarity"], self.state["parts"]

    def _names(self, dead: Any) -> Any:
        """The names of dead pages as a frame."""
        kind = f"page {self.found.kind}"
        if dead is None:
            return self.store.spark.createDataFrame([], kind)
        if hasattr(dead, "sparkSession"):
            return stored(dead.select(F.col(dead.columns[0]).cast(self.found.kind).alias("page")))
        return self.store.spark.createDataFrame([(name,) for name in dead], kind)

    def _rarity(self, tally: Tally) -> tuple[str, int]:
        """The table of rarity and the number of parts of a collection that begins."""
        counters = bytearray(_onecopy.open_rarity(_candidates.rarity(tally)).to_bytes())
        table, name = self.store.spark.createDataFrame([(counters,)], "counts binary"), f"{self.tables}/rarity"
        table.write.parquet(self.store.path(name))
        return name, max(_candidates.packing(self.store.spark, tally.words)[0], 4)

    def _keys(self, facts: Any, rarity: str, parts: int) -> Any:
        return key_parts(facts, self.plan, rarity_sent(self.store, rarity), (parts, KEY_BITS, True))

    def _decide(self, keys: Any, names: int) -> int:
        """Decides about what changed, and writes all tables of the version. Returns how many pages these have."""
        gone = F.broadcast(self.gone) if names <= NAMES_TO_SEND else self.gone
        old = self.old.latest("facts", gone) if self.old.parts else None
        facts = self.fresh.unionByName(old.drop("segment")) if old is not None else self.fresh
        leads = followed(facts.where("reason is null"), self.found.kind, self.tuning.edges_in_a_task) if self.linked else None
        was = self.old.read("leads", self.state["tables"]) if self.state["linked"] else None
        now = Now(self.old, facts, self.fresh, self.dead, leads, was)
        changed, placed = measured(self._sets(keys, self._touched(gone, now)), F.count("node").alias("nodes"))
        near = self._near(old, changed, placed["nodes"])
        of_bins = stored(self._settled(near, changed, placed["nodes"], leads))
        self._write("facts", self.fresh)
        self._write("dead", self.dead)
        self._write("sets", changed.drop("was"))
        self._write("settled", of_bins)
        self._write("leads", leads if leads is not None else self.store.spark.createDataFrame([], self.old.schema("leads")))
        at = changed.select("node", "component")
        sets = near.join(F.broadcast(at) if placed["nodes"] <= self.tuning.bins_at_once else at, "node", "left")
        sets = sets.select(F.coalesce("component", "node").alias("set"), "page", "sketch")
        sets = sets if self.old.parts else _sketches.together(sets)
        _sketches.write(sets, self.store.path(self.tables, "sketches"))
        return self._statuses(now, of_bins)

    def _statuses(self, now: Now, of_bins: Any) -> int:
        """Writes the status of all pages that may have changed, and the feed. Returns how many pages these are."""
        decided, table = statuses_now(now, of_bins, self.gone)
        self._write("decided", decided)
        table, counted = measured(table, F.count("page").alias("pages"))
        self._write("pages", table)
        before = None
        if self.old.parts:
            names = table.select("page").union(self.dead)
            names = F.broadcast(names) if counted["pages"] <= NAMES_TO_SEND else names
            before = self.old.latest("pages").join(names, "page", "left_semi")
        self._write("feed", changes(before, table))
        return counted["pages"]

    def _touched(self, gone: Any, now: Now) -> Any:
        """The nodes of changed pages: as they were, as they are, and of pages whose links lead elsewhere now."""
        nodes = self.judged.select("node")
        if self.old.parts:
            before = self.old.every("facts").select("page", "node", "reason").where("reason is null")
            names = gone if now.moved is None else self.gone.union(now.moved.select("page"))
            nodes = nodes.union(before.join(names, "page", "left_semi").select("node"))
        return nodes.distinct()

    def _sets(self, keys: Any, touched: Any) -> Any:
        """The sets of contents that the update changes: `node`, `component`, `words`, and the set it `was` in."""
        edges = stored(self._edges(keys))
        sizes = edges.groupBy("node").agg((F.max("words") * F.max("pages")).alias("words"))
        words = F.coalesce("words", F.lit(1)).alias("words")
        if not self.old.parts:
            found = _candidates.components(edges.select("node", "root"), self.tuning.edges_in_a_task)
            return found.join(sizes, "node", "left").select("node", "component", words, F.col("node").alias("was"))
        pairs = stored(edges.select("node", "root").union(touched.select("node", F.col("node").alias("root"))))
        before = self.old.latest("sets")
        met = pairs.select("node").union(pairs.select("root")).distinct()
        place = stored(before.join(F.broadcast(met), "node").select("node", "component"))
        at = lambda name: place.select(F.col("node").alias(name), F.col("component").alias(f"at_{name}"))
        quotient = pairs.join(at("node"), "node", "left").join(at("root"), "root", "left").select(
            F.coalesce("at_node", "node").alias("node"), F.coalesce("at_root", "root").alias("root")
        )
        merged = _candidates.components(quotient, self.tuning.edges_in_a_task).toDF("was", "component")
        known = before.withColumnRenamed("component", "was").join(F.broadcast(merged), "was")
        known = known.select("node", "component", "words", "was")
        added = met.join(place.select("node"), "node", "left_anti")
        added = added.join(merged.withColumnRenamed("was", "node"), "node").join(sizes, "node", "left")
        return known.unionByName(added.select("node", "component", words, F.col("node").alias("was")))

    def _edges(self, keys: Any) -> Any:
        """Edges from fresh contents, and from those beside them. A few fresh keys are sent to all others."""
        kind, spark = "node long, root long, words long, pages long", self.store.spark
        fresh, old = keys.withColumn("fresh", F.lit(1)), self.old.every("keys").drop("size") if self.old.parts else None
        if old is not None and (keys.agg(F.sum(F.length("keys"))).first()[0] or 0) <= KEYS_TO_SEND:
            rows = keys.collect()
            sent = {"part": [row["part"] for row in rows], "keys": [bytes(row["keys"]) for row in rows]}
            run = _stages.edges_to(self.plan, spark.sparkContext.broadcast(sent))
            met = old.mapInArrow(run, kind)
            return met.unionByName(over_groups(fresh, "part", _stages.fresh_edges(self.plan), kind))
        if old is not None:
            fresh = fresh.unionByName(old.withColumn("fresh", F.lit(0)))
        return over_groups(fresh, "part", _stages.fresh_edges(self.plan), kind)

    def _near(self, old: Optional[Any], changed: Any, nodes: int) -> Any:
        """The facts of fresh pages, and of all others in changed sets."""
        if old is None:
            return self.judged
        at = changed.select("node")
        beside = old.where("reason is null").join(F.broadcast(at) if nodes <= NAMES_TO_SEND else at, "node", "left_semi")
        found = _sketches.find(self.old, changed.select("was").distinct(), nodes)
        # A page that was replaced has older sketches, too.
        found = found.withColumnRenamed("segment", "of_segment")
        both = beside.join(found, "page").where("of_segment >= segment").drop("segment", "of_segment")
        return stored(self.judged.unionByName(both.dropDuplicates(["page"])))

    def _settled(self, near: Any, changed: Any, nodes: int, leads: Optional[Any]) -> Any:
        """Decides about the pages of changed sets."""
        edges = changed.select("node", F.col("component").alias("root"), "words", F.lit(1).cast("long").alias("pages"))
        bins, placed = _candidates.bins(edges, nodes, self.tuning)
        near = _decide.compared(near, leads)
        context = _decide.Deciding(self.plan, self.found.kind, self.tuning)
        whole = self.found if leads is None and not self.old.parts else None
        of_bins = _decide.settled(near, bins, placed["nodes"], context, whole)
        if placed["large"]:
            of_bins = of_bins.unionByName(_large.settled(near, bins, context))
        return of_bins

    def _write(self, name: str, frame: Any) -> Any:
        frame.write.parquet(self.store.path(self.tables, name))
        return self.old.read(name, self.tables)
