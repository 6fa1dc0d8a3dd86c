"""Which sets of contents an update with few pages changes."""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
import pyarrow.compute as compute

from ... import _onecopy
from .._segments import Segments
from .rows import beside, mapped, newest, values, within, without
from .tasks import Wanted, find

COLUMNS = ["node", "component", "words"]


def changed_sets(segments: Segments, edges: Any, touched: Any) -> Any:
    """The contents of changed sets: `node`, `component`, `words`, and the set it `was` in; lone contents are in none.

    `touched` are the nodes of pages that came, changed or died.
    """
    met = values(edges["node"], edges["root"], touched)
    (place,) = find(segments, Wanted("sets", COLUMNS, "node", met))
    place = newest(place, "node")
    at = lambda column: mapped(column, place["node"].combine_chunks(), place["component"].combine_chunks())
    # Sets and new contents that become one.
    sides = {name: [at(edges[name].combine_chunks()), at(touched)] for name in ("node", "root")}
    pairs = pyarrow.table({name: pyarrow.chunked_array(side) for name, side in sides.items()})
    merged = pyarrow.table(_onecopy.connect_nodes(pairs))
    (known,) = find(segments, Wanted("sets", COLUMNS, "component", merged["node"].combine_chunks()))
    known = newest(known, "node").drop_columns(["segment"]).rename_columns({"component": "was"})
    added = without(pyarrow.table({"node": met}), "node", place["node"].combine_chunks())
    words = compute.fill_null(beside(sizes(edges), "node", added["node"].combine_chunks())["words"], 1)
    added = added.append_column("was", added["node"]).append_column("words", words)
    found = pyarrow.concat_tables([known, added.select(known.column_names)])
    component = beside(merged, "node", found["was"].combine_chunks())["component"]
    found = found.append_column("component", component)
    kept = within(found, "was", values(known["was"]))["component"]
    return without_lone(found, values(kept, within(found, "node", values(edges["node"]))["component"]))


def sizes(edges: Any) -> Any:
    """The words of all pages of each node."""
    most = edges.group_by("node").aggregate([("words", "max"), ("pages", "max")])
    words = compute.multiply(most["words_max"], most["pages_max"])
    return pyarrow.table({"node": most["node"], "words": words})


def without_lone(found: Any, sets: Any) -> Any:
    """The contents of these sets, and of all with several contents. Nothing can change what a lone page is."""
    counts = found.group_by("component").aggregate([("node", "count")])
    several = counts.filter(compute.greater(counts["node_count"], 1))["component"]
    return within(found, "component", values(several, sets))


def named(changed: Any, pages: Any) -> Any:
    """The sets under their names to be: that of the former set with most pages. So few sketches change their place.

    `pages` are those of the collection in changed sets, with their `node`.
    """
    was = mapped(pages["node"].combine_chunks(), changed["node"].combine_chunks(), changed["was"].combine_chunks())
    sets = pyarrow.table({"was": values(changed["was"])})
    component = beside(changed, "was", sets["was"].combine_chunks())["component"]
    counts = pyarrow.table({"was": was}).group_by("was").aggregate([("was", "count")])
    weight = compute.fill_null(beside(counts, "was", sets["was"].combine_chunks())["was_count"], 0)
    sets = sets.append_column("component", component).append_column("weight", weight)
    sets = sets.sort_by([("weight", "descending"), ("was", "ascending")])
    first = numpy.unique(sets["component"].to_numpy(), return_index=True)[1]
    names = sets.take(pyarrow.array(first))
    set_ = mapped(changed["component"].combine_chunks(), names["component"].combine_chunks(), names["was"].combine_chunks())
    return changed.set_column(changed.column_names.index("component"), "component", set_)
