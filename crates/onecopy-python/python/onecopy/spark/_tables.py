"""Arrow tables as bytes, and rows as tables of facts. Executors import it, so it needs nothing of Spark."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Optional

import numpy
import pyarrow
import pyarrow.compute as compute

from .. import _onecopy

# What the number of a blob says: facts without sketches, numbers as JSON, the keys of a part, a table of whole facts or of
# edges, or a table of rarity. Java gets numbers of 32 bits and more as they are.
NARROW, NUMBERS, PART, TABLE, RARITY = (1 << 32) - 2, (1 << 32) - 1, 1 << 32, 2 << 32, 3 << 32
# Tables of rarity are mostly small numbers. A faster codec would be larger, and a better one slower.
CODEC = pyarrow.Codec("zstd", 1)
# What a task that settles pages must know of each besides its sketch, and the pages that it names as its own.
NEAR = ("page", "fingerprint", "rank", "identity", "flags", "named")
# Java keeps a hundred blobs in memory while it writes them, and gives a thousand to Python at once. So none is larger
# than this, if no page is.
BLOB_BYTES = 256 << 10


def packed(table: Any) -> bytes:
    """A table as bytes."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def unpacked(data: bytes, schema: Optional[Any] = None) -> Any:
    """The table that `packed` packed, or the Arrow batch of a frame with this schema."""
    if schema is None:
        return pyarrow.ipc.open_stream(data).read_all()
    return pyarrow.Table.from_batches([pyarrow.ipc.read_record_batch(pyarrow.py_buffer(data), schema)])


def appraised(rows: Any, plan: str, page: str) -> Any:
    """The facts of rows, with the name of each in `page`. The name may be in structures, with a zero between names."""
    first, *rest = page.split("\0")
    name = rows[first]
    for part in rest:
        name = compute.struct_field(name, part)
    facts = pyarrow.table(_onecopy.appraise_pages(rows, plan)).add_column(0, "page", name)
    hashes = pyarrow.table(_onecopy.hash_names(facts.select(["page"])))
    return facts.append_column("name", hashes["name"])


def pieces(table: Any) -> Iterator[Any]:
    """The table in pieces that are not too large for a blob."""
    step = max(1, len(table) * BLOB_BYTES // max(table.nbytes, 1))
    return (table.slice(first, step) for first in range(0, len(table), step))


def key_parts(facts: Any, plan: str, keyed: tuple[Any, tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    """The keys of pages by part, which is also before them. `keyed` has how common shingles are, and the packing."""
    keys = pyarrow.table(_onecopy.key_parts(facts, plan, *keyed)).to_pydict()
    return ((part, part.to_bytes(4, "little") + data) for part, data in zip(keys["part"], keys["keys"]))


def sorted_out(blobs: Iterable[bytes]) -> tuple[list[bytes], list[Any], Any]:
    """Blobs of three kinds: lines of JSON, narrow tables, and keys as a table: `part`, `keys`."""
    lines, tables, parts, keys = [], [], [], []
    for data in blobs:
        if data[:1] == b"{":
            lines.append(data)
        elif data[:4] == b"\xff" * 4:
            tables.append(unpacked(data))
        else:
            parts.append(int.from_bytes(data[:4], "little"))
            keys.append(data[4:])
    table = {"part": pyarrow.array(parts, pyarrow.int32()), "keys": pyarrow.array(keys, pyarrow.binary())}
    return lines, tables, pyarrow.table(table)


def rarity_packed(counts: Any) -> bytes:
    """How common shingles are, its size first."""
    table = counts.to_bytes()
    return len(table).to_bytes(8, "little") + CODEC.compress(table, asbytes=True)


def rarity_merged(tables: Iterable[bytes]) -> Any:
    """The sum of at least one of what `rarity_packed` packed."""
    sizes = ((int.from_bytes(data[:8], "little"), data[8:]) for data in tables)
    first, *others = (_onecopy.Rarity.from_bytes(CODEC.decompress(data, size, asbytes=True)) for size, data in sizes)
    for other in others:
        first.merge(other)
    return first


def rarity_of(source: Any) -> Any:
    """How common shingles are: from the folder of a table that pyarrow can open, or from bytes that were sent."""
    if not isinstance(source, str):
        return _onecopy.Rarity.from_bytes(source.value)
    from pyarrow import fs, parquet

    files, name = fs.FileSystem.from_uri(source)
    return _onecopy.Rarity.from_bytes(parquet.read_table(name, filesystem=files)["counts"][0].as_py())


def with_places(facts: Any, places: Any) -> Any:
    """The judged pages in sets, with their `component` and `bin`. `places` has both for each `node`, ascending."""
    nodes, own = places["node"].to_numpy(), facts["node"].to_numpy()
    at = numpy.searchsorted(nodes, own).clip(max=max(len(nodes) - 1, 0))
    hit = nodes[at] == own if len(nodes) else numpy.zeros(len(own), bool)
    rows = numpy.flatnonzero(hit & compute.is_null(facts["reason"]).to_numpy())
    at, found = pyarrow.array(at[rows]), facts.take(pyarrow.array(rows))
    for name in ("component", "bin"):
        found = found.append_column(name, places[name].take(at))
    return found


def rejections(facts: Any) -> list[Any]:
    """The rejected pages and their reasons, if there are any."""
    if "reason" not in facts.column_names or facts["reason"].null_count == len(facts):
        return []
    return [facts.select(["page", "reason"]).filter(compute.is_valid(facts["reason"]))]


def packed_bins(tables: list[Any]) -> Iterator[tuple[int, bytes]]:
    """Pages by bin, those of no bin left out: the length of their sketches, the packed sketches, and the other columns."""
    pages = pyarrow.concat_tables(tables) if tables else None
    if pages is None or not len(pages):
        return
    pages = pages.filter(compute.is_valid(pages["bin"]))
    narrow = pages.select([name for name in pages.column_names if name in NEAR]).combine_chunks()
    for number, rows, sketches in _onecopy.pack_sketches(pages.select(["bin", "component", "sketch"])):
        beside = packed(narrow.take(pyarrow.array(rows, pyarrow.uint32())))
        yield number, len(sketches).to_bytes(8, "little") + sketches + beside


def unpacked_bin(blobs: Iterable[Any]) -> tuple[Optional[Any], list[Any]]:
    """The pages of a bin that `packed_bins` packed, with their sketches, and tables of rejected pages."""
    pages, sketches, lost = [], [], []
    for blob in blobs:
        end = 8 + int.from_bytes(blob[:8], "little")
        # Tables must begin at an even place in memory, so they are copied.
        (pages if end > 8 else lost).append(unpacked(blob[end:].to_pybytes()))
        sketches += [blob[8:end].to_pybytes()] if end > 8 else []
    if not pages:
        return None, lost
    column = pyarrow.table({"sketches": pyarrow.array(sketches, pyarrow.binary())})
    column = pyarrow.table(_onecopy.unpack_sketches(column))["sketch"]
    return pyarrow.concat_tables(pages).append_column("sketch", column), lost
