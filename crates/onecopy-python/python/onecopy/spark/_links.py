"""Where redirects, revisits and canonical links lead. Pages at connected addresses are looked at in one task."""

from __future__ import annotations

from typing import Any, Optional

from pyspark.sql import functions as F

from . import _stages
from ._candidates import components
from ._store import stored
from ._tables import over_groups


def followed(facts: Any, kind: str, edges_in_a_task: int) -> Optional[Any]:
    """Where pages lead: `page`, `target`, `revisit`, `reason`, `tested`. Nothing if no page has a link.

    Pages with `tested` name the target as their own, which a comparison must confirm. All others stand for the target,
    or are rejected for the `reason`.
    """
    # A page without an address is a place of its own.
    address = F.when(F.col("identity") == 0, F.col("name")).otherwise(F.col("identity"))
    placed = facts.withColumn("address", address)
    claims = placed.where("links is not null").select("address", "links")
    edges = stored(claims.mapInArrow(_stages.link_edges(), "node long, root long"))
    if edges.isEmpty():
        return None
    places = components(edges, edges_in_a_task).withColumnRenamed("node", "address")
    near = placed.select("page", "address", "rank", "identity", "exact", "flags", "links").join(places, "address")
    columns = f"page {kind}, target {kind}, revisit boolean, reason string, tested boolean"
    return stored(over_groups(near, "component", _stages.follow_links(), columns))
