"""Frames to Arrow tables, and groups of rows to tasks, in ways that Spark 3.5 and Spark 4 both know."""

from __future__ import annotations

from typing import Any, Callable, Optional

import pyarrow
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import _parse_datatype_string

from . import _stages


def schema_of(columns: str) -> Any:
    """The Arrow schema of columns in Spark's words. Only Spark 4 has `StructType.fromDDL`."""
    return to_arrow_schema(_parse_datatype_string(columns))


def to_arrow(frame: Any) -> Any:
    """The rows of a small frame as an Arrow table."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    # What `toPandas` of Spark 3.5 begins with.
    return pyarrow.Table.from_batches(frame._collect_as_arrow(), to_arrow_schema(frame.schema))


def over_groups(frame: Any, key: Optional[str], run: Callable[..., Any], columns: str) -> Any:
    """Runs a function over the table of each value of a column of whole numbers, or over all rows as one table.

    Spark 3.5 has no `applyInArrow`. A shuffle, a sort and a stage over batches do the same, with more memory: a batch of
    Spark may have many groups.
    """
    rows = frame.groupBy(*([key] if key else []))
    if hasattr(rows, "applyInArrow"):
        return rows.applyInArrow(run, columns)
    if key is None:
        return frame.repartition(1).mapInArrow(_stages.over_all(run), columns)
    placed = frame.repartition(key).sortWithinPartitions(key)
    return placed.mapInArrow(_stages.over_groups(key, run), columns)
