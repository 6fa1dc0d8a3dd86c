"""The stages over Arrow columns, for engines that share the work out, such as Spark.

Arguments are any objects with `__arrow_c_stream__`, and results are such objects: `pyarrow.table(result)`.
"""

from __future__ import annotations

import tempfile
from typing import Any

from . import _onecopy
from ._dedup import DEFAULTS
from ._onecopy import ArrowTable, Rarity
from ._options import arguments

__all__ = ["Rarity", "keys", "sketch", "verdicts"]


def _options(options: dict[str, Any], folder: str) -> list[str]:
    unknown = [name for name in options if name not in DEFAULTS]
    if unknown:
        raise TypeError(f"an unexpected option: {unknown[0]!r}")
    return arguments(options, DEFAULTS, folder)


def sketch(data: Any, *, html: bool = False, **options: Any) -> ArrowTable:
    """The sketches of texts: `sketch`, a list of numbers, and `fingerprint`, 16 bytes.

    `data` is a list of texts, or an Arrow table whose first column is text. `options` are those of `dedup`.

    >>> import onecopy
    >>> found = onecopy.sketch(["one two three four five six", ""])
    >>> [len(sketch) for sketch in found.to_pydict()["sketch"]]
    [2, 0]
    """
    if isinstance(data, (list, tuple)):
        data = _onecopy.columns({"text": list(data)})
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        return _onecopy.sketch(data, html, _options(options, folder))


def keys(data: Any, rarity: Rarity, **options: Any) -> ArrowTable:
    """The keys of sketches, the first column of `data`: pages that are alike share one. `rests` has a number for each."""
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        return _onecopy.keys(data, rarity, _options(options, folder))


def verdicts(data: Any, **options: Any) -> ArrowTable:
    """The `similarity` of each pair of sketches that is alike, and null for others. Two columns are a pair."""
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        return _onecopy.verdicts(data, _options(options, folder))
