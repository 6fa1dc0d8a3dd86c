"""Numbered bytes that Spark moves between tasks without a look inside.

Rows of a data frame become Java's, one by one, and Spark plans and compiles every stage of them. These are a few large
byte strings, each an Arrow table or something of our own. The number of a blob tells what it is, or where it goes.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

from pyspark import RDD, StorageLevel
from pyspark.serializers import NoOpSerializer, pack_long
from pyspark.sql import DataFrame


class Blobs:
    """Numbered blobs, in the tasks of an RDD of Java."""

    def __init__(self, spark: Any, pairs: Any) -> None:
        self.spark = spark
        self._pairs = pairs

    def stored(self) -> "Blobs":
        """The same, computed once and kept on the disks of the executors, and in the checkpoint folder if there is one."""
        context = self.spark.sparkContext
        pairs = self._pairs.persist(context._getJavaStorageLevel(StorageLevel.DISK_ONLY))
        if context.getCheckpointDir():
            pairs.checkpoint()
        return Blobs(self.spark, pairs)

    def between(self, first: int, last: int) -> "Blobs":
        """The blobs with these numbers."""
        return Blobs(self.spark, self._pairs.filterByRange(first, last))

    def placed(self, tasks: int) -> "Blobs":
        """The blobs in so many tasks, each in the task of its number."""
        partitioner = self.spark.sparkContext._jvm.PythonPartitioner(tasks, 0)
        return Blobs(self.spark, self._pairs.partitionBy(partitioner))

    def mapped(self, run: Callable[[Iterator[bytes]], Iterator[tuple[int, bytes]]]) -> "Blobs":
        """What a function makes of the blobs of each task."""
        return made(self.spark, self._values(), run)

    def collect(self) -> list[bytes]:
        """All blobs, without their numbers."""
        return self._values().collect()

    def frame(self, run: Callable[[Iterator[Any]], Iterator[Any]], kind: str) -> Any:
        """The rows that a function makes of the blobs of each task. It gets them in batches with one column."""
        encoder = self.spark.sparkContext._jvm.org.apache.spark.sql.Encoders.BINARY()
        rows = self.spark._jsparkSession.createDataset(self._values()._jrdd.rdd(), encoder).toDF()
        return DataFrame(rows, self.spark).mapInArrow(run, kind)

    def unpersist(self) -> None:
        """Frees what `stored` stored."""
        self._pairs.unpersist()

    def _values(self) -> Any:
        context = self.spark.sparkContext
        return RDD(context._jvm.PythonRDD.valueOfPair(self._pairs), context, NoOpSerializer())


def made(spark: Any, source: Any, run: Callable[[Iterator[bytes]], Iterator[tuple[int, bytes]]]) -> Blobs:
    """The blobs that a function makes of each task of an RDD of bytes."""

    def flat(blobs: Iterable[bytes]) -> Iterator[bytes]:
        for number, data in run(iter(blobs)):
            yield pack_long(number)
            yield data

    # As `RDD.partitionBy` does it: Java takes every two byte strings for a number and a blob.
    keyed = source.mapPartitions(flat, preservesPartitioning=True)
    keyed._bypass_serializer = True
    return Blobs(spark, spark.sparkContext._jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD())


def batches(frame: Any) -> Any:
    """The rows of a frame as an RDD of Arrow batches, without their schema."""
    context = frame.sparkSession.sparkContext
    return RDD(frame._jdf.toArrowBatchRdd().toJavaRDD(), context, NoOpSerializer())
