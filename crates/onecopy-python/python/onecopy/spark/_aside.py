"""The facts of pages in files on the disks of executors. Runs in executors.

A task puts the facts of its pages aside, and later stages read them there. Spark prefers the machine that ran the task.
On another machine, or if the file is lost with one, the facts are made again from the rows.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from typing import Any, Iterator, NamedTuple, Optional

import numpy
import pyarrow
import pyarrow.compute as compute

from .. import _onecopy
from ._arrow import in_tables, numbers, table, whole
from ._small.reading import opened

# So many rows and bytes are appraised together.
ROWS, BYTES = 1_000, 32 << 20


class Aside(NamedTuple):
    """The facts of a frame: the name of the run, the plan, the column of names and its type, and what each task reads."""

    run: str
    plan: str
    page: list[str]
    kind: Any
    columns: list[str]
    spans: list[list[tuple[str, int, int]]]

    def batches(self, task: int, columns: Optional[list[str]] = None) -> Iterator[Any]:
        """The facts of a task."""
        with self.mapped(task) as source:
            names = pyarrow.ipc.open_file(source).schema.names
            wanted = [names.index(name) for name in columns or names]
            options = pyarrow.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
            reader = pyarrow.ipc.open_file(source, options=options)
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)

    def mapped(self, task: int) -> Any:
        """The file of a task. Makes it if it is not there; asking first would leave time to delete it."""
        try:
            return pyarrow.memory_map(self.path(task))
        except FileNotFoundError:
            self.put(task)
            return pyarrow.memory_map(self.path(task))

    def judged(self, task: int, columns: list[str]) -> Iterator[Any]:
        """Some facts of the pages of a task that were judged."""
        for batch in self.batches(task, [*columns, "reason"]):
            all_judged = batch["reason"].null_count == len(batch)
            yield (batch if all_judged else batch.filter(compute.is_null(batch["reason"]))).select(columns)

    def tables(self, task: int, columns: list[str], size: int) -> Iterator[Any]:
        """The facts of pages that were judged, in tables of about so many bytes."""
        return in_tables(self.judged(task, columns), size)

    def put(self, task: int, tally: Any = None) -> None:
        """Appraises the rows of a task, and puts their facts aside. Adds them to a tally."""
        goal, writer = self.path(task), None
        draft = f"{goal}.{uuid.uuid4().hex}"
        try:
            for rows in self.rows(task):
                facts = self.facts(rows)
                if tally is not None:
                    tally.add(facts)
                writer = writer or pyarrow.ipc.new_file(draft, facts.schema)
                writer.write_table(facts)
            writer.close()
            os.replace(draft, goal)
        except BaseException:
            if os.path.exists(draft):
                os.remove(draft)
            raise

    def facts(self, rows: Any) -> Any:
        """The facts of rows, and their names."""
        made, name = table(_onecopy.appraise_pages(rows, self.plan)), rows[self.page[0]]
        for part in self.page[1:]:
            name = compute.struct_field(name, part)
        return made.add_column(0, "page", name.cast(self.kind))

    def rows(self, task: int) -> Iterator[Any]:
        """The rows of a task. There is at least one table, which may be empty."""
        with opened(self.spans[task][0][0]) as file:
            yield file.schema_arrow.empty_table().select(self.columns)
        for span in self.spans[task]:
            yield from rows_of(span, self.columns, ROWS, BYTES)

    def path(self, task: int) -> str:
        """The file of a task on this machine. Spark deletes its folder when the executor ends."""
        folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
        folder = folders[task % len(folders)] or tempfile.gettempdir()
        return os.path.join(folder, f"onecopy-{self.run}-{task}.arrow")

    def remove(self) -> None:
        """Deletes all files of this run that this executor has."""
        for task in range(len(self.spans)):
            # Another task of this executor may delete it, too.
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(task))


def placed(pages: Any, places: Any) -> Any:
    """The pages with the `component` and the `bin` of their `node`. Places are in the order of their nodes.

    The bin of a page without a place, or that was not judged, is -1.
    """
    known, nodes = numbers(places["node"]), numbers(pages["node"])
    at = numpy.searchsorted(known, nodes)
    at[at == len(known)] = 0
    judged = numbers(compute.is_null(pages["reason"]).cast(pyarrow.int32())) != 0
    has_place = (known[at] == nodes) & judged if len(known) else numpy.zeros(len(nodes), bool)
    found = pages.drop_columns(["node", "reason"])
    for name, kind in (("component", "int64"), ("bin", "int32")):
        of = numpy.full(len(nodes), -1, kind)
        of[has_place] = numbers(places[name])[at[has_place]]
        found = found.append_column(name, whole(of, kind))
    return found


def rows_of(span: tuple[str, int, int], columns: list[str], most: int, size: int) -> Iterator[Any]:
    """Rows of a file, at most so many together, and about so many bytes."""
    path, first, end = span
    with opened(path) as file:
        for number in range(first, end):
            group = file.metadata.row_group(number)
            some = max(1, min(most, size * group.num_rows // max(group.total_byte_size, 1)))
            for batch in file.iter_batches(some, row_groups=[number], columns=columns, use_threads=False):
                yield pyarrow.Table.from_batches([batch])


def groups_in(path: str, schema: Any) -> Optional[list[int]]:
    """The bytes of each row group in the columns of a schema. Nothing if Spark reads one of them in another way."""
    try:
        with opened(path) as file:
            own, metadata = file.schema_arrow, file.metadata
            if b"org.apache.spark.legacyDateTime" in (metadata.metadata or {}):
                return None
            for field in schema:
                if own.names.count(field.name) != 1 or seen(own.field(field.name).type) != field.type:
                    return None
            return [bytes_of(metadata.row_group(number), schema.names) for number in range(metadata.num_row_groups)]
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException):
        return None


def bytes_of(group: Any, names: list[str]) -> int:
    """The bytes of some columns of a row group."""
    columns = (group.column(number) for number in range(group.num_columns))
    return sum(one.total_uncompressed_size for one in columns if one.path_in_schema.partition(".")[0] in names)


def seen(kind: Any) -> Any:
    """A type as Spark knows it. How text is laid out in memory makes no difference."""
    kinds = pyarrow.types
    if kinds.is_dictionary(kind):
        return seen(kind.value_type)
    if kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return pyarrow.string()
    if kinds.is_large_binary(kind) or kinds.is_binary_view(kind):
        return pyarrow.binary()
    if kinds.is_timestamp(kind):
        return pyarrow.timestamp("us", "UTC" if kind.tz else None)
    return kind
