"""Frames that are computed once, between stages and between rounds."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ._small.ranges import GROUP_BYTES

# How Spark writes files whose values executors find at their places.
PLAIN = {
    "parquet.block.size": str(GROUP_BYTES),
    # Parquet looks at the size after so many rows.
    "parquet.page.size.row.check.min": "16",
    # A row group has one page.
    "parquet.page.size": str(256 << 20),
    "parquet.enable.dictionary": "false",
    # They are random numbers.
    "compression": "none",
}


def stored(frame: Any) -> Any:
    """The frame, computed now and kept on the disks of the executors. If a worker is lost, its part is computed again.

    With a checkpoint folder of the Spark context, it is written there instead. In both cases its plan is cut, so that
    plans do not grow from round to round.
    """
    return measured(frame, F.count(F.lit(1)))[0]


def measured(frame: Any, *numbers: Any) -> tuple[Any, Any]:
    """The frame as by `stored`, and numbers about all of its rows."""
    spark = frame.sparkSession
    if spark.sparkContext.getCheckpointDir():
        kept = frame.checkpoint()
    else:
        java = frame._jdf
        rows = java.queryExecution().toRdd()
        kept = DataFrame(spark._jsparkSession.internalCreateDataFrame(rows, java.schema(), False), spark)
        kept = kept.persist(StorageLevel.DISK_ONLY)
    return kept, kept.agg(*numbers).first()


def write_plain(frame: Any, column: str, path: str) -> None:
    """Writes a frame with the bytes of each value of a column in `size`. `_small.ranges` finds values by them."""
    size = F.length(column).alias("size")
    others = [name for name in frame.columns if name != column]
    frame.select(*others, size, column).write.options(**PLAIN).parquet(path)
