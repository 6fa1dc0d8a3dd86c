"""`onecopy.spark.dedup`: the answer of `onecopy.dedup` over the rows of a data frame."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

from pyspark.sql import functions as F

from .. import _onecopy
from .._dedup import ABOUT_FILES, DEFAULTS
from .._onecopy import OnecopyError
from .._options import arguments
from . import _candidates, _large
from ._candidates import Tuning
from ._decide import Deciding, compared, planned, settled, shared
from ._errors import told_plainly
from ._links import followed
from ._pages import Pages, check, pages, settings
from ._store import stored
from ._tally import Tally
from ._write import Output, write

# Options that have no meaning here: files, and the resources of one machine.
NOT_HERE = (*ABOUT_FILES, "data", "out", "memory", "threads", "quiet", "recall_pages", "popularity", "against")


class Deduplicated:
    """The result of a run, as data frames. `page` and `winner` are values of the column that names pages.

    kept      the rows that stay, with all their columns
    removed   page, winner, similarity, kind of each removed row
    groups    group, page, status of each page of a group; a group is named by its best page
    rejected  page, reason of each row that could not be judged
    """

    def __init__(self, df: Any, page: str, read: int, decided: Any, rejected: Any) -> None:
        self._df = df
        self._read = read
        self._page = page
        self._decided = decided
        self.rejected = rejected
        self._report: Optional[dict[str, int]] = None

    @property
    def kept(self) -> Any:
        """The rows that stay."""
        gone = self.removed.select("page").union(self.rejected.select("page")).withColumnRenamed("page", "__gone")
        page = F.col(f"`{self._page}`" if self._page in self._df.columns else self._page)
        return self._df.join(gone, page == F.col("__gone"), "left_anti")

    @property
    def removed(self) -> Any:
        """The removed pages, each with its winner and their similarity."""
        return self._decided.where("winner is not null").select("page", "winner", "similarity", "kind")

    @property
    def groups(self) -> Any:
        """The groups of similar pages."""
        status = F.when(F.col("winner").isNull(), "kept").otherwise("removed")
        return self._decided.where("group is not null").select("group", "page", status.alias("status"))

    def write(self, folder: str, form: str = "parquet") -> None:
        """Writes `kept`, `removed`, `groups` and `rejected` into a new folder, which appears in one step."""
        write(self, self._df, self._page, Output(folder, form))

    @property
    def report(self) -> dict[str, int]:
        """The numbers of the run."""
        if self._report is None:
            self._report = self._count()
        return dict(self._report)

    def _count(self) -> dict[str, int]:
        rejected = self.rejected.count()
        row = self._decided.agg(
            F.count("winner").alias("removed"),
            F.count_distinct("group").alias("groups"),
            *[F.count_if(F.col("kind") == kind).alias(kind) for kind in ("exact", "near", "url", "redirect")],
        ).first()
        kept = self._read - rejected - row["removed"]
        return {"read": self._read, "kept": kept, "rejected": rejected, **row.asDict()}

    def unpersist(self) -> None:
        """Frees what the executors store for this result."""
        self._decided.unpersist()
        self.rejected.unpersist()

    def __repr__(self) -> str:
        counts = (f"{self.report[name]} {name}" for name in ("kept", "removed", "rejected"))
        return f"<onecopy.spark.Deduplicated: {', '.join(counts)}>"


def dedup(df: Any, *, tuning: Tuning = Tuning(), plan: Any = None, **options: Any) -> Deduplicated:
    """Removes exact and near-duplicate rows of a data frame, and names for each the row that stays.

    All options are those of `onecopy.dedup`, except those about files and the resources of one machine. `tuning`
    changes the speed, never the answer. Nor does `plan`, a file that `onecopy partitions plan --save` wrote: it says
    which sets of similar pages are settled together.
    The frame is read twice, for the pages and for `kept`, so it must give the same rows each time.
    """
    given = complete(options)
    if plan is not None:
        _onecopy.read_partitions(plan)
    job = plan_of(given)
    with told_plainly(), settings(df.sparkSession):
        found = pages(df, job, given, lambda words: _candidates.rarity_bits(words, tuning))
        try:
            with settings(df.sparkSession, found.settings):
                tally = check(found)
                decided, rejected = decide(found, tally, Deciding(job, found.kind, tuning), plan)
        finally:
            found.free()
    return Deduplicated(df, found.page, tally.rows, decided, rejected)


def complete(options: dict[str, Any]) -> dict[str, Any]:
    """All options, with their defaults."""
    for name in options:
        if name in NOT_HERE:
            raise OnecopyError(f"{name} has no meaning on a cluster: leave it out")
        if name not in DEFAULTS:
            raise TypeError(f"dedup() got an unexpected option {name!r}")
    return {**{name: value for name, value in DEFAULTS.items() if name not in NOT_HERE}, **options}


def plan_of(given: dict[str, Any]) -> str:
    """The plan that all executors get. Files that options name are read here, on the driver."""
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        return _onecopy.make_plan([os.fspath(item) for item in arguments(given, DEFAULTS, folder)])


def decide(found: Pages, tally: Tally, context: Deciding, partitions: Any = None) -> tuple[Any, Any]:
    """Decisions and rejected pages, stored by the executors."""
    plan, tuning = context.plan, context.tuning
    if tally.judged < tally.rows:
        _candidates.check_rejected(found.facts, found.page)
    facts = found.facts.where("reason is null")
    packing = _candidates.packing(facts.sparkSession, tally.words)
    counts = facts.sparkSession.sparkContext.broadcast(_candidates.rarity(tally).to_bytes())
    edges, met = _candidates.edges(found.key_parts(plan, counts, packing), plan)
    if met["repeated"]:
        _candidates.check_names(found.facts, edges, found.page)
    bins, placed = _candidates.bins(edges.where("node is not null"), met["edges"], tuning)
    if partitions is not None:
        bins = planned(bins, facts, partitions)
    leads = followed(facts, found.kind, tuning.edges_in_a_task) if tally.linked else None
    near = compared(facts, leads)
    of_bins = settled(near, bins, placed["nodes"], context, found if leads is None else None)
    if placed["large"]:
        of_bins = of_bins.unionByName(_large.settled(near, bins, context))
    decided = stored(shared(of_bins, leads))
    return decided, rejected(found, tally, leads)


def rejected(found: Pages, tally: Tally, leads: Optional[Any]) -> Any:
    """The pages that could not be judged, stored by the executors."""
    pages = found.facts.where("reason is not null").select("page", "reason")
    if tally.judged == tally.rows:
        # Not `createDataFrame`: it starts another Python process on each executor.
        pages = pages.where("false")
    if leads is not None:
        pages = pages.union(leads.where("reason is not null").select("page", "reason"))
    return stored(pages)
