"""What a run must know of all pages before it can decide: how many there are, and what they lack."""

from __future__ import annotations

import json
from typing import Any, Iterable, Optional

from .._onecopy import OnecopyError


class Tally:
    """The numbers of some pages. Those of disjoint pages can be added."""

    def __init__(self, numbers: Iterable[bytes] = ()) -> None:
        self.rows = self.nameless = self.judged = self.linked = self.words = 0
        self.reason: Optional[str] = None
        for other in map(json.loads, numbers):
            for name in ("rows", "nameless", "judged", "linked", "words"):
                setattr(self, name, getattr(self, name) + other[name])
            self.reason = self.reason or other["reason"]

    def add(self, table: Any) -> None:
        """Counts the pages of a table of facts."""
        reasons = table["reason"].drop_null()
        self.rows += len(table)
        self.nameless += table["page"].null_count
        self.judged += len(table) - len(reasons)
        self.linked += len(table) - table["links"].null_count
        self.words += table["sketch"].nbytes // 8
        if len(reasons) and self.reason is None:
            self.reason = reasons[0].as_py()

    def to_bytes(self) -> bytes:
        """The numbers in a line of JSON."""
        return json.dumps(vars(self)).encode()

    def checked(self, page: str) -> "Tally":
        """Refuses rows without names, by the column that names pages."""
        if self.nameless:
            raise OnecopyError(
                f"{self.nameless} of {self.rows} rows have no `{page}`: "
                "give every page a name of its own, or choose another column with id_field"
            )
        return self

    def of_any(self) -> "Tally":
        """Refuses frames without pages."""
        if not self.rows:
            raise OnecopyError("the data has no rows: give at least one page")
        if not self.judged:
            raise OnecopyError(f"none of the {self.rows} rows could be judged: {self.reason}")
        return self
