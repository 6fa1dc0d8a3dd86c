"""`onecopy.Collection`: pages that change, kept on disk with their groups."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Iterable, Iterator, Mapping, Optional, Union

from ._dedup import DEFAULTS
from ._onecopy import OnecopyError, RawCollection
from ._options import arguments

Name = Union[str, int]


class Collection:
    """A collection of pages on disk. The service of `onecopy serve` uses the same folder, but not at the same time.

    >>> import onecopy, tempfile
    >>> with onecopy.Collection(tempfile.mkdtemp()) as pages:
    ...     _ = pages.put({"id": "a", "text": "one two three four five six seven"})
    ...     _ = pages.put({"id": "b", "text": "One, two, three, four, five, six, seven!"})
    ...     pages.settle()
    ...     pages.status("b")["status"], pages.status("b")["winner"]
    ('loser', 'a')
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"], *, existing: bool = False, **options: Any) -> None:
        """Opens the collection in `folder`, and begins it if there is none, unless `existing`.

        `options` are those of `onecopy.dedup` that decide about duplicates. They are fixed when it begins.
        """
        unknown = [name for name in options if name not in DEFAULTS]
        if unknown:
            raise TypeError(f"Collection() got an unexpected option {unknown[0]!r}")
        with tempfile.TemporaryDirectory(prefix="onecopy-") as aside:
            call = arguments(options, DEFAULTS, aside)
            self._raw = RawCollection(os.fspath(folder), call, existing)

    def put(self, *pages: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Adds pages, or new versions of them. Returns the status of each, which may be `pending`."""
        return _accepted(self._raw.put([json.dumps(page) for page in pages]))

    def delete(self, *names: Name) -> list[dict[str, Any]]:
        """Forgets pages."""
        return _accepted(self._raw.delete([json.dumps(name) for name in names]))

    def dead(self, *names: Name) -> list[dict[str, Any]]:
        """Marks pages as dead. The collection still knows them."""
        return _accepted(self._raw.dead([json.dumps(name) for name in names]))

    def settle(self) -> None:
        """Waits until all changes are compared. The answers then equal those of `onecopy.dedup`."""
        self._raw.settle()

    def status(self, name: Name) -> Optional[dict[str, Any]]:
        """The status of a page; nothing if it is unknown."""
        found = self._raw.status([json.dumps(name)])[0]
        return None if found is None else json.loads(found)

    def statuses(self, names: Iterable[Name]) -> list[Optional[dict[str, Any]]]:
        """The status of each of these pages, all as of one moment."""
        found = self._raw.status([json.dumps(name) for name in names])
        return [None if status is None else json.loads(status) for status in found]

    def groups(self, least: int = 2) -> Iterator[dict[str, Any]]:
        """All groups of at least this many pages."""
        after = 0
        while True:
            lines = [json.loads(line) for line in self._raw.groups(after, 1000, least)]
            yield from lines
            if not lines:
                return
            after = lines[-1]["group"]

    def group(self, number: int) -> Optional[dict[str, Any]]:
        """A group and its pages; nothing if there is none of this number."""
        found = self._raw.group(number)
        return None if found is None else json.loads(found)

    def feed(self, cursor: tuple[int, int] = (0, 0), limit: int = 1000) -> tuple[list[dict[str, Any]], tuple[int, int]]:
        """Changes of status after a cursor, and the cursor after them. Keep it, and give it to the next call."""
        changes, after = self._raw.feed(cursor, limit)
        return [json.loads(change) for change in changes], after

    def stats(self) -> dict[str, Any]:
        """The numbers of the collection."""
        return json.loads(self._raw.stats())

    def close(self) -> None:
        """Closes the collection. Changes that wait are compared when it is opened again."""
        self._raw.close()

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _accepted(answers: list[tuple[bool, str]]) -> list[dict[str, Any]]:
    for number, (is_accepted, said) in enumerate(answers):
        if not is_accepted:
            raise OnecopyError(f"page {number}: {said}; the pages before it were accepted")
    return [json.loads(said) for _, said in answers]
