"""The status of pages that an update may have changed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Optional

from . import _decide
from ._feed import statuses
from ._segments import Segments
from ._store import stored


class Now:
    """The pages of a collection after an update: their facts, those that came, and where links lead now and before."""

    def __init__(self, old: Segments, facts: Any, fresh: Any, dead: Any, leads: Optional[Any], was: Optional[Any]) -> None:
        self.old, self.facts, self.fresh, self.dead = old, facts, fresh, dead
        self.leads, self._was = leads, was

    @cached_property
    def moved(self) -> Optional[Any]:
        """Links that lead elsewhere than before: `page`, `target`. Nothing if there are no links."""
        parts = ["page", "target", "revisit", "tested"]
        now, was = (None if links is None else links.select(parts) for links in (self.leads, self._was))
        if now is None or was is None:
            found = was if now is None else now
            return None if found is None else stored(found.select("page", "target"))
        return stored(was.exceptAll(now).union(now.exceptAll(was)).select("page", "target"))


def statuses_now(now: Now, of_bins: Any, gone: Any) -> tuple[Any, Any]:
    """The names of pages whose decision is new, and the status of all pages that may have changed."""
    names = of_bins.select("page").union(now.fresh.select("page"))
    decided = of_bins.select("page").union(gone)
    if now.leads is None and now.moved is None:
        rejected = now.fresh.where("reason is not null").select("page", "reason")
        return decided.distinct(), statuses(names.distinct(), _decide.shared(of_bins, None), rejected)
    names = names.union(now.moved.select("page")).union(now.moved.where("target is not null").select("target"))
    names, decided = stored(names.distinct()), decided.union(now.moved.select("page"))
    leads = now.leads
    if leads is not None:
        decided = decided.union(leads.where("not tested").select("page"))
        own = leads.join(names, "page", "left_semi")
        beside = leads.where("not tested").join(names.withColumnRenamed("page", "target"), "target", "left_semi")
        leads = stored(own.unionByName(beside).distinct())
        ends = leads.where("not tested and target is not null")
        names = names.union(leads.select("page")).union(ends.select("target")).distinct()
    decided = stored(decided.distinct())
    names = stored(names.join(now.facts.select("page"), "page", "left_semi"))
    settled = of_bins
    if now.old.parts:
        kept = now.old.latest("settled").join(names, "page", "left_semi").join(decided, "page", "left_anti")
        settled = settled.unionByName(kept)
    rejected = now.facts.where("reason is not null").select("page", "reason").join(names, "page", "left_semi")
    if leads is not None:
        rejected = rejected.union(leads.where("reason is not null").select("page", "reason"))
    return decided, statuses(names, _decide.shared(settled, leads), rejected)
