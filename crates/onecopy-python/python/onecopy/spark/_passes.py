"""What runs in the executors over blobs: each function here makes one, from the blobs of a task to numbered blobs.

They travel to the workers by value, as those of `_stages`.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from . import _stages
from ._stages import checked

Numbered = Iterator[tuple[int, bytes]]
# So many bytes of sketches are packed together, and keys of so many.
PACKED_BYTES, KEYED_BYTES = 128 << 20, 16 << 20


def appraise(schema: Any, page: str, plan: str, keyed: Any) -> Callable[..., Any]:
    """Rows to the facts of their pages, to facts without sketches, and to a tally; then to what `keyed` says.

    `keyed` has how common shingles are, and the packing of keys: then to keys, by their part. Or it is the number of bits
    of a table: then to a table of how common shingles are.
    """

    def run(blobs: Iterator[bytes]) -> Numbered:
        from onecopy import _onecopy
        from onecopy.spark._tables import NARROW, NUMBERS, PART, RARITY, TABLE
        from onecopy.spark._tables import appraised, key_parts, packed, pieces, rarity_of, rarity_packed, unpacked
        from onecopy.spark._tally import Tally

        tally, counts = Tally(), _onecopy.Rarity(keyed) if isinstance(keyed, int) else None
        how = None if counts is not None else (rarity_of(keyed[0]), keyed[1])
        for data in blobs:
            facts = appraised(unpacked(data, schema), plan, page)
            tally.add(facts)
            yield NARROW, packed(facts.drop_columns(["sketch"]))
            for piece in pieces(facts):
                yield TABLE, packed(piece)
            if counts is not None:
                _onecopy.count_sketches(counts, facts)
            else:
                yield from ((PART + part, keys) for part, keys in key_parts(facts, plan, how))
        yield NUMBERS, tally.to_bytes()
        if counts is not None and tally.rows:
            yield RARITY, rarity_packed(counts)

    return checked(run)


def merge_rarity() -> Callable[..., Any]:
    """Adds up tables of how common shingles are."""

    def run(blobs: Iterator[bytes]) -> Numbered:
        from onecopy.spark._tables import RARITY, rarity_merged, rarity_packed

        tables = list(blobs)
        if tables:
            yield RARITY, rarity_packed(rarity_merged(tables))

    return checked(run)


def keys(plan: str, keyed: Any) -> Callable[..., Any]:
    """Facts to keys, by their part. `keyed` is as for `appraise`."""

    def run(blobs: Iterator[bytes]) -> Numbered:
        import pyarrow
        from onecopy.spark._passes import KEYED_BYTES
        from onecopy.spark._tables import PART, key_parts, rarity_of, unpacked

        how, held, size = (rarity_of(keyed[0]), keyed[1]), [], 0
        for data in blobs:
            held.append(unpacked(data).select(["node", "name", "sketch"]))
            size += len(data)
            if size >= KEYED_BYTES:
                yield from ((PART + part, keys) for part, keys in key_parts(pyarrow.concat_tables(held), plan, how))
                held, size = [], 0
        if held:
            yield from ((PART + part, keys) for part, keys in key_parts(pyarrow.concat_tables(held), plan, how))

    return checked(run)


def key_edges(plan: str) -> Callable[..., Any]:
    """The keys of a part to a table of edges between contents that may be similar, and to numbers: how many edges there
    are, and hashes of names that several pages have.
    """

    def run(blobs: Iterator[bytes]) -> Numbered:
        import json
        import pyarrow
        from onecopy import _onecopy
        from onecopy.spark._tables import NUMBERS, TABLE, packed, sorted_out

        edges, repeated = _onecopy.key_edges(sorted_out(blobs)[2], plan)
        yield NUMBERS, json.dumps({"edges": len(edges), "repeated": repeated[:100]}).encode()
        yield TABLE, packed(pyarrow.table(edges))

    return checked(run)


def pack(sent: Optional[Any], schema: Optional[Any] = None) -> Callable[..., Any]:
    """Facts to pages and sketches, packed by bin. Sketches of similar pages are packed as their differences.

    `sent` has the set and the bin of each node; else the facts have both. Rejected pages go to the first bin.
    """

    def run(blobs: Iterator[bytes]) -> Numbered:
        import pyarrow
        from onecopy.spark._passes import PACKED_BYTES
        from onecopy.spark._tables import packed, packed_bins, rejections, unpacked, with_places

        places = None if sent is None else unpacked(sent.value)
        held, size, lost = [], 0, []
        for data in blobs:
            facts = unpacked(data, schema)
            lost += rejections(facts)
            near = facts if places is None else with_places(facts, places)
            held.append(near)
            size += near.nbytes
            if size >= PACKED_BYTES:
                yield from packed_bins(held)
                held, size = [], 0
        yield from packed_bins(held)
        if lost:
            yield 0, bytes(8) + packed(pyarrow.concat_tables(lost))

    return checked(run)


def settle(plan: str, schema: Any) -> Callable[..., Any]:
    """The blobs of a bin to rows with decisions about its pages, and with the reasons of rejected ones."""
    whole = _stages.settle(plan)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from onecopy.spark._tables import unpacked_bin

        pages, lost = unpacked_bin(blob.as_buffer() for batch in batches for blob in batch.column(0))
        found = [whole(pages)] if pages is not None else []
        rows = pyarrow.concat_tables([schema.empty_table(), *found, *lost], promote_options="default")
        yield from rows.to_batches()

    return checked(run)


def unpack(columns: list[str], sent: Optional[Any] = None) -> Callable[..., Any]:
    """Blobs of tables to rows with these columns; only rows of the nodes in `sent`, if any."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._tables import unpacked, with_places

        places = None if sent is None else unpacked(sent.value)
        for batch in batches:
            for blob in batch.column(0):
                table = unpacked(blob.as_py())
                table = table if places is None else with_places(table, places)
                yield from table.select(columns).to_batches()

    return checked(run)


def key_rows() -> Callable[..., Any]:
    """Blobs of keys to rows: `part`, `keys`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from onecopy.spark._tables import sorted_out

        for batch in batches:
            yield from sorted_out(blob.as_py() for blob in batch.column(0))[2].to_batches()

    return checked(run)
