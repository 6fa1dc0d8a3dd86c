"""`onecopy.refine`: ranked search results, each content once."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _onecopy
from ._options import arguments


def refine(
    results: Iterable[Mapping[str, Any]],
    *,
    drop: bool = False,
    keep: Optional[int] = None,
    transitive: bool = False,
    query: Optional[str] = None,
    method: str = "auto",
    threshold: Optional[float] = None,
    shingle: int = 5,
    unit: str = "words",
    text_field: Optional[str] = None,
    id_field: Optional[str] = None,
    tag_field: Optional[str] = None,
    content: str = "auto",
    words: str = "auto",
    keep_case: bool = False,
    keep_punctuation: bool = False,
    drop_numbering: bool = False,
    count_replicas: bool = False,
    stop_words: Union[str, "os.PathLike[str]", Sequence[str], None] = None,
) -> list[dict[str, Any]]:
    """Groups ranked search results with the same content, each group under its best result.

    A result is a dictionary with `id`, and `text`, `html`, `snippet` or `tag`. It gets a field `onecopy` that says which
    result it repeats. With `drop` the repeats are left out. All options are those of `onecopy refine --help`.

    >>> import onecopy
    >>> story = "The keeper of the lighthouse wrote down the weather of every day."
    >>> hits = [{"id": "a", "text": story}, {"id": "b", "text": story.upper()}, {"id": "c", "text": "Something else."}]
    >>> [(hit["id"], hit["onecopy"]["relation"]) for hit in onecopy.refine(hits)]
    [('a', 'anchor'), ('b', 'similar'), ('c', 'anchor')]
    >>> [hit["id"] for hit in onecopy.refine(hits, drop=True)]
    ['a', 'c']
    """
    given = dict(locals())
    rows = [dict(row) for row in given.pop("results")]
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        options = arguments(given, DEFAULTS, folder)
        found = json.loads(_onecopy.refine(json.dumps(rows, default=str), options))
    for note in found.get("notes", ()):
        warnings.warn(note, stacklevel=2)
    return found["results"]


DEFAULTS = {name: it.default for name, it in inspect.signature(refine).parameters.items()}
