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
from . import _candidates
from ._candidates import Tuning
from ._decide import Deciding, compared, near_pages, planned, settled, settled_near, shared
from ._errors import told_plainly
from ._links import COLUMNS as LINK_COLUMNS
from ._links import followed
from ._pages import Pages, pages, settings, source
from ._store import stored
from ._tally import Tally

# Options that have no meaning here: files, and the resources of one machine.
NOT_HERE = (*ABOUT_FILES, "data", "out", "memory", "threads", "quiet", "recall_pages", "popularity", "against")


# So many names of removed pages are sent to all executors. More are joined with the rows, which moves all rows.
NAMES_TO_SEND = 1_000_000


class Deduplicated:
    """The result of a run, as data frames. `page` and `winner` are values of the column that names pages.

    kept      the rows that stay, with all their columns
    removed   page, winner, similarity, kind of each removed row
    groups    group, page, status of each page of a group; a group is named by its best page
    rejected  page, reason of each row that could not be judged
    """

    def __init__(self, df: Any, page: str, decided: Any, rows: int) -> None:
        self._df = df
        self._page = page
        self._decided = decided
        self._rows = rows
        self._report: Optional[dict[str, int]] = None

    @property
    def kept(self) -> Any:
        """The rows that stay."""
        gone = self._decided.where("winner is not null or reason is not null").select(F.col("page").alias("__gone"))
        if self.report["read"] - self.report["kept"] <= NAMES_TO_SEND:
            gone = F.broadcast(gone)
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

    @property
    def rejected(self) -> Any:
        """The rows that could not be judged, each with the reason."""
        return self._decided.where("reason is not null").select("page", "reason")

    @property
    def report(self) -> dict[str, int]:
        """The numbers of the run."""
        if self._report is None:
            self._report = self._count()
        return dict(self._report)

    def _count(self) -> dict[str, int]:
        row = self._decided.agg(
            F.count("reason").alias("rejected"),
            F.count("winner").alias("removed"),
            F.count_distinct("group").alias("groups"),
            *[F.count_if(F.col("kind") == kind).alias(kind) for kind in ("exact", "near", "url", "redirect")],
        ).first()
        kept = self._rows - row["rejected"] - row["removed"]
        return {"read": self._rows, "kept": kept, **row.asDict()}

    def unpersist(self) -> None:
        """Frees what the executors store for this result."""
        self._decided.unpersist()

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
        rows = source(df, job, given)
        found = pages(rows, job, tuning.rarity_bits)
        try:
            decided, tally = decide(found, Deciding(job, rows.kind, tuning), plan)
        finally:
            found.blobs.unpersist()
    return Deduplicated(df, rows.page, decided, tally.rows)


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


def decide(found: Pages, context: Deciding, partitions: Any = None) -> tuple[Any, Tally]:
    """Decisions and rejected pages, stored by the executors, and the numbers of all pages."""
    tally = found.tally.of_any()
    met = _candidates.met(found, context.plan, tally)
    if met.repeated:
        _candidates.check_names(found, met.repeated)
    placed = _candidates.placed(met, context.tuning)
    if partitions is not None:
        placed = planned(found, placed, partitions)
    leads = None
    if tally.linked:
        facts = found.frame([*LINK_COLUMNS, "reason"]).where("reason is null")
        leads = followed(facts, context.kind, context.tuning.edges_in_a_task)
    if leads is None and placed.sent is not None and not placed.large:
        return stored(shared(settled(found, placed, context), None)), tally
    near = compared(near_pages(found, placed), leads)
    decided = shared(settled_near(near, placed, context), leads)
    return stored(decided.unionByName(rejected(found, leads), allowMissingColumns=True)), tally


def rejected(found: Pages, leads: Optional[Any]) -> Any:
    """The pages that could not be judged: `page`, `reason`."""
    pages = found.frame(["page", "reason"]).where("reason is not null")
    return pages if leads is None else pages.union(leads.where("reason is not null").select("page", "reason"))
