"""Pages of plain Parquet files: stages whose rows are tasks, so that Java moves hardly more than their numbers."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Iterator, Optional

import pyarrow
from pyspark import StorageLevel

from . import _stages
from ._decide import PARTS
from ._pages import FACTS, NARROW, Pages
from ._plain import spans_of
from ._tables import schema_of, to_arrow

NARROW_COLUMNS = ["page", *(part.split()[0] for part in NARROW.split(", "))]
# Bytes of sketches whose keys are packed together, for a run and for a collection.
KEYED_BYTES, KEPT_BYTES = 64 << 20, 8 << 20
# Plans over few rows take longer to compile than to run.
FEW_ROWS = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
# About so many bytes of text make a word of a sketch.
BYTES_A_WORD = 8


class FilePages(Pages):
    """As `Pages`. `stored` has the number of each task and its tally; the facts are aside, on the disks of executors."""

    given: tuple[Any, ...]
    keyed: Any
    # Whether all tasks have put their facts aside.
    done = False

    @property
    def facts(self) -> Any:
        return self._map(facts(self.given, None), f"page {self.kind}, {FACTS}")

    @property
    def narrow(self) -> Any:
        return self._map(facts(self.given, NARROW_COLUMNS), f"page {self.kind}, {NARROW}")

    @property
    def keys(self) -> Any:
        return self.key_parts(self.given[1], *self.keyed)

    def key_parts(self, plan: str, counts: Any, packing: _stages.Packing) -> Any:
        run = key_parts(self.given, counts, packing)
        return self._map(run, "part int, keys binary")

    def over_judged(self, names: list[str], run: Callable[..., Any], columns: str) -> Any:
        return self._map(judged(self.given, names, run), columns)

    def collected(self) -> tuple[Any, Any]:
        from ._small.reading import unpacked

        rows = to_arrow(self._map(collect(self.given, *self.keyed), "facts binary, keys binary"))
        parts = ([unpacked(data.as_buffer()) for data in rows[name]] for name in ("facts", "keys"))
        facts, keys = map(pyarrow.concat_tables, parts)
        return facts, keys

    def packed(self, bins: Any) -> Any:
        """The pages of bins (`node`, `component`, `bin`), packed."""
        from ._small.reading import packed

        context = self.stored.sparkSession.sparkContext
        sent = context.broadcast(packed(to_arrow(bins).sort_by("node")))
        return self._map(pack(self.given, sent), _stages.PACKED)

    def tallies(self) -> list[bytes]:
        found = super().tallies()
        self.done = True
        return found

    def free(self) -> None:
        try:
            if self.done:
                self._map(remove(self.given), "task int").collect()
        finally:
            super().free()

    def _map(self, run: Callable[..., Any], columns: str) -> Any:
        return self.stored.select("task").mapInArrow(_stages.checked(run), columns)


def file_pages(
    df: Any, plan: str, named: tuple[str, str], bits: Callable[[Optional[int]], int], keyed: Any
) -> Optional[FilePages]:
    """The pages of a frame that only reads Parquet files; nothing if it does more. `named`: the column of names, its type."""
    (page, kind), dealt = named, spans_of(df)
    if dealt is None:
        return None
    spans, size = dealt
    name = [page] if page in df.columns else page.split(".")
    arrow = schema_of(f"page {kind}").field("page").type
    given = (uuid.uuid4().hex[:12], plan, name, arrow, df.columns, [[tuple(span) for span in task] for task in spans])
    tasks = df.sparkSession.range(0, len(spans), 1, len(spans))
    stored = tasks.mapInArrow(_stages.checked(put(given, bits(size // BYTES_A_WORD))), "task int, tally binary")
    found = FilePages(stored.persist(StorageLevel.DISK_ONLY), page, kind, len(spans), FEW_ROWS)
    found.given, found.keyed = given, keyed
    return found


def put(given: tuple[Any, ...], bits: int) -> Callable[..., Any]:
    """Tasks to their tallies. Puts the facts of their pages aside."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import onecopy
        import pyarrow
        from onecopy.spark._arrow import blobs, whole
        from onecopy.spark._aside import Aside
        from onecopy.spark._tally import Tally

        for batch in batches:
            for task in batch.column(0).to_pylist():
                tally = Tally(onecopy.Rarity(bits))
                Aside(*given).put(task, tally)
                packed = blobs([tally.to_bytes()]) if tally.rows else pyarrow.nulls(1, pyarrow.binary())
                yield pyarrow.RecordBatch.from_arrays([whole([task], "int32"), packed], ["task", "tally"])

    return run


def facts(given: tuple[Any, ...], columns: Optional[list[str]]) -> Callable[..., Any]:
    """Tasks to the facts of their pages."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._aside import Aside

        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from Aside(*given).batches(task, columns)

    return run


def key_parts(given: tuple[Any, ...], rarity: Any, packing: _stages.Packing) -> Callable[..., Any]:
    """Tasks to the keys of their pages, packed by part.

    Keys of a collection are in smaller rows: Java buffers many of them when it writes a file.
    """
    size = KEPT_BYTES if packing[2] else KEYED_BYTES

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy import _onecopy
        from onecopy.spark._arrow import table
        from onecopy.spark._aside import Aside
        from onecopy.spark._tally import rarity_of

        counts, aside = rarity_of(rarity), Aside(*given)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for pages in aside.tables(task, ["node", "name", "sketch"], size):
                    yield from table(_onecopy.key_parts(pages, aside.plan, counts, packing)).to_batches()

    return run


def collect(given: tuple[Any, ...], rarity: Any, packing: _stages.Packing) -> Callable[..., Any]:
    """Tasks to the narrow facts and the keys of their pages, both as the bytes of a table."""
    columns = NARROW_COLUMNS
    keys_of = key_parts(given, rarity, packing)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy.spark._arrow import blobs
        from onecopy.spark._aside import Aside
        from onecopy.spark._small.reading import packed

        for batch in batches:
            for task in batch.column(0).to_pylist():
                facts = pyarrow.Table.from_batches(Aside(*given).batches(task, columns))
                keys = pyarrow.Table.from_batches(keys_of([batch]))
                found = [blobs([packed(facts)]), blobs([packed(keys)])]
                yield pyarrow.RecordBatch.from_arrays(found, ["facts", "keys"])

    return run


def judged(given: tuple[Any, ...], names: list[str], run: Callable[..., Any]) -> Callable[..., Any]:
    """Tasks to what a function makes of some facts of their judged pages."""

    def over(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._aside import Aside

        aside = Aside(*given)
        tasks = (task for batch in batches for task in batch.column(0).to_pylist())
        yield from run(rows for task in tasks for rows in aside.judged(task, names))

    return over


def pack(given: tuple[Any, ...], bins: Any) -> Callable[..., Any]:
    """Tasks to the pages of bins, packed. `bins` has the `component` and the `bin` of each `node`, in order."""
    packed, columns = _stages.pack(mapped=True), PARTS

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy.spark._aside import Aside, placed
        from onecopy.spark._small.reading import unpacked

        places = unpacked(bins.value).combine_chunks()

        def near() -> Iterator[Any]:
            for batch in batches:
                for task in batch.column(0).to_pylist():
                    for pages in Aside(*given).batches(task, [*columns, "node", "reason"]):
                        yield from placed(pyarrow.Table.from_batches([pages]), places).to_batches()

        yield from packed(near())

    return run


def remove(given: tuple[Any, ...]) -> Callable[..., Any]:
    """Deletes what executors put aside. One that gets no task keeps its files until it ends."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._aside import Aside

        for batch in batches:
            Aside(*given).remove()
            yield batch

    return run
