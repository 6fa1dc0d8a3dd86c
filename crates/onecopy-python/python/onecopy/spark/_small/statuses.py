"""The status of pages that an update with few pages may have changed. The rules are those of `_feed`."""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.compute as compute

from .._feed import PARTS
from .rows import beside, values, without


def statuses(decided: Any, fresh: Any) -> Any:
    """The status of decided and fresh pages."""
    names = values(decided["page"], fresh["page"])
    found = beside(decided, "page", names)
    reason = beside(fresh, "page", names)["reason"]
    rejected, removed = compute.is_valid(reason), compute.is_valid(found["winner"])
    status = compute.if_else(rejected, "rejected", compute.if_else(removed, "removed", "kept"))
    alone = compute.fill_null(compute.less_equal(found["members"], 1), True)
    group = compute.if_else(alone, pyarrow.scalar(None, found["group"].type), found["group"])
    parts = {"winner": found["winner"], "similarity": found["similarity"], "kind": found["kind"]}
    return pyarrow.table({"page": names, "status": status, **parts, "group": group, "reason": reason})


def changes(before: Any, after: Any) -> Any:
    """The pages whose status changed, with the status `before`. Pages that are in `before` alone are dead."""
    was = beside(before, "page", after["page"].combine_chunks())
    same = compute.is_valid(was["page"])
    for name in PARTS:
        both = compute.and_(compute.is_null(after[name]), compute.is_null(was[name]))
        equal = compute.fill_null(compute.equal(after[name], was[name]), False)
        same = compute.and_(same, compute.or_(both, equal))
    moved = after.append_column("before", was["status"]).filter(compute.invert(same))
    dead = without(before, "page", after["page"].combine_chunks())
    empty = {name: pyarrow.nulls(len(dead), after[name].type) for name in PARTS}
    empty["status"] = pyarrow.array(["dead"] * len(dead), pyarrow.string())
    gone = pyarrow.table({"page": dead["page"], **empty, "before": dead["status"]})
    return pyarrow.concat_tables([moved, gone.select(moved.column_names).cast(moved.schema)])
