"""Joins of small Arrow tables."""

from __future__ import annotations

from typing import Any, Callable, Iterable

import numpy
import pyarrow
import pyarrow.compute as compute

from ..._onecopy import OnecopyError


def values(*columns: Any) -> Any:
    """The distinct values of some columns of one type."""
    chunks = [chunk for column in columns for chunk in (column.chunks if hasattr(column, "chunks") else [column])]
    return pyarrow.chunked_array(chunks, type=columns[0].type).unique()


def within(rows: Any, key: str, some: Any) -> Any:
    """The rows whose key is one of some values."""
    return rows.filter(compute.is_in(rows[key], value_set=some))


def without(rows: Any, key: str, some: Any) -> Any:
    """The rows whose key is none of some values."""
    return rows.filter(compute.invert(compute.is_in(rows[key], value_set=some)))


def newest(rows: Any, key: str) -> Any:
    """The row of the highest segment for each key."""
    rows = rows.sort_by([("segment", "descending")])
    codes = rows[key].combine_chunks().dictionary_encode().indices
    return rows.take(pyarrow.array(numpy.unique(codes.to_numpy(), return_index=True)[1]))


def beside(rows: Any, key: str, names: Any) -> Any:
    """The row of each name, in the order of names. Names without one have a row of nulls."""
    return rows.take(compute.index_in(names, value_set=rows[key].combine_chunks()))


def mapped(column: Any, keys: Any, to: Any) -> Any:
    """Each value of a column of numbers, or where it leads to if it is one of the keys."""
    at = compute.index_in(column, value_set=keys)
    return compute.coalesce(to.take(at), column)


def with_sketches(pages: Any, found: Iterable[Any]) -> Callable[[Any], Any]:
    """A function that appends `sketch` to some of the pages (`page`, `segment`), from sketches of theirs and of others.

    A page that was replaced has older sketches, too, in earlier segments. A set that got another name has its sketches
    twice.
    """
    kept = []
    names, since = pages["page"].combine_chunks(), pages["segment"].combine_chunks()
    for table in found:
        known = since.take(compute.index_in(table["page"], value_set=names))
        # Rows of other pages have no segment here, and a filter drops them.
        kept.append(table.filter(compute.greater_equal(table["segment"], known)))
    sketches = pyarrow.concat_tables(kept).select(["page", "sketch"]) if kept else None

    def of(rows: Any) -> Any:
        at = compute.index_in(rows["page"], value_set=sketches["page"].combine_chunks()) if kept else None
        if at is None or at.null_count:
            raise OnecopyError("sketches of the collection are missing: begin a new collection")
        return rows.append_column("sketch", sketches["sketch"].take(at))

    return of
