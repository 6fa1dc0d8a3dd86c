"""`onecopy.compare` and `onecopy.extract`: single pages."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Optional, Union

from . import _onecopy

Page = Union[str, "os.PathLike[str]"]


def compare(a: Page, b: Page, *, method: Union[str, Iterable[str]] = (), content: Optional[str] = None) -> dict[str, Any]:
    """Compares two pages by every method, and shows which passages match.

    A page is its text or HTML, or the path of a file as `pathlib.Path`. The result is that of `onecopy compare --json`.

    >>> import onecopy
    >>> found = onecopy.compare("one two three four five six", "one two three four five seven", method="jaccard")
    >>> found["methods"][0]["alike"], round(found["methods"][0]["similarity"], 2)
    (False, 0.33)
    """
    methods = [method] if isinstance(method, str) else list(method)
    return json.loads(_onecopy.compare(a, b, methods, content))


def extract(html: str, *, content: str = "main") -> str:
    """The main text of HTML, without menus, footers and advertisements.

    With `content="all"` all visible text, with `"auto"` the main text if there is enough of it.

    >>> import onecopy
    >>> onecopy.extract("<html><body><p>Hello, world.</p></body></html>", content="all").strip()
    'Hello, world.'
    """
    return _onecopy.extract(html, content)
