"""Frames that are computed once, between stages and between rounds."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


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
