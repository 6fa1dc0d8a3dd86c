"""What a run must know of all pages before it can begin: how many there are, and how common their shingles are."""

from __future__ import annotations

import json
from typing import Any, Iterable

import pyarrow
import pyarrow.compute

from .. import _onecopy

# Tables of rarity are mostly small numbers. A faster codec would be larger, and a better one slower.
CODEC = pyarrow.Codec("zstd", 1)


class Tally:
    """The numbers of some pages. Those of disjoint pages can be added."""

    def __init__(self, rarity: Any) -> None:
        self.rarity = rarity
        self.rows = self.nameless = self.judged = self.words = self.linked = 0
        self.reason: str | None = None

    def add(self, table: Any) -> None:
        """Counts the pages of a table of facts."""
        _onecopy.count_sketches(self.rarity, table)
        reasons = table["reason"].drop_null()
        self.rows += len(table)
        self.nameless += table["page"].null_count
        self.judged += len(table) - len(reasons)
        self.linked += len(table) - table["links"].null_count
        self.words += (pyarrow.compute.sum(pyarrow.compute.binary_length(table["sketch"])).as_py() or 0) // 8
        if len(reasons) and self.reason is None:
            self.reason = reasons[0].as_py()

    def merge(self, other: "Tally") -> None:
        self.rarity.merge(other.rarity)
        for name in ("rows", "nameless", "judged", "words", "linked"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.reason = self.reason or other.reason

    def to_bytes(self) -> bytes:
        """The numbers in a line of JSON, its length first, and the packed table."""
        counts = self.rarity.to_bytes()
        numbers = {name: value for name, value in vars(self).items() if name != "rarity"}
        head = json.dumps({**numbers, "bytes": len(counts)}).encode()
        return len(head).to_bytes(4, "little") + head + CODEC.compress(counts, asbytes=True)


def from_bytes(packed: bytes) -> Tally:
    """What `Tally.to_bytes` wrote."""
    end = 4 + int.from_bytes(packed[:4], "little")
    numbers = json.loads(packed[4:end])
    counts = CODEC.decompress(packed[end:], numbers.pop("bytes"), asbytes=True)
    tally = Tally(_onecopy.Rarity.from_bytes(counts))
    vars(tally).update(numbers)
    return tally


def merged(tallies: Iterable[bytes]) -> Tally:
    """The sum of at least one."""
    first, *others = (from_bytes(bytes(packed)) for packed in tallies)
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
