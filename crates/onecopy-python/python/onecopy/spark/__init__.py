"""The answer of `onecopy.dedup` from a Spark cluster, page by page and group by group.

    import onecopy.spark
    found = onecopy.spark.dedup(spark.read.parquet("crawl/"))
    found.kept.write.parquet("clean/")

All machines need Python with this version of onecopy, pyspark, pyarrow and pandas.
"""

from ._candidates import Tuning
from ._collection import Updated, current, update
from ._dedup import Deduplicated, dedup

__all__ = ["Deduplicated", "Tuning", "Updated", "current", "dedup", "update"]
