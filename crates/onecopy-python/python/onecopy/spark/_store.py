"""Frames that are computed once, between stages and between rounds."""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def stored(frame: Any) -> Any:
    """The frame, computed now and kept on the disks of the executors. If a worker is lost, its part is computed again.

    With a checkpoint folder of the Spark context, it is written there instead. In both cases its plan is cut, so that
    plans do not grow from round to round.
    """
    spark = frame.sparkSession
    if spark.sparkContext.getCheckpointDir():
        return frame.checkpoint()
    java = frame._jdf
    cut = DataFrame(spark._jsparkSession.createDataFrame(java.javaRDD(), java.schema()), spark)
    cut = cut.persist(StorageLevel.DISK_ONLY)
    cut.count()
    return cut
