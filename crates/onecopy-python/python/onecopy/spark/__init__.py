"""The answer of `onecopy.dedup` from a Spark cluster, page by page and group by group.

    import onecopy.spark
    found = onecopy.spark.dedup(spark.read.parquet("crawl/"))
    found.kept.write.parquet("clean/")

All machines need Python with this version of onecopy, pyspark, pyarrow and pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._candidates import Tuning
    from ._collection import Updated, current, update
    from ._dedup import Deduplicated, dedup

__all__ = ["Deduplicated", "Tuning", "Updated", "current", "dedup", "update"]


def __getattr__(name: str) -> Any:
    """Imports what is asked for. Workers import other modules of this package, and need none of these."""
    if name in __all__:
        of = {"Tuning": "_candidates", "Deduplicated": "_dedup", "dedup": "_dedup"}.get(name, "_collection")
        return getattr(import_module(f".{of}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
