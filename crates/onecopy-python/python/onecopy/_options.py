"""Turns keyword arguments into the options of the program, which checks them."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterable, Mapping


def arguments(given: Mapping[str, Any], defaults: Mapping[str, Any], folder: str) -> list[str]:
    """The command line of the options that differ from their defaults. Files for it go to `folder`."""
    out: list[str] = []
    for name, value in given.items():
        if value is None or value == defaults.get(name):
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            out.append(option)
        elif value is not False:
            out.append(f"{option}={_text(name, value, folder)}")
    return out


def _text(name: str, value: Any, folder: str) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Iterable):
        if name == "stop_words":
            return _file(value, folder)
        return ",".join(str(item) for item in value)
    return str(value)


def _file(words: Iterable[Any], folder: str) -> str:
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".txt", encoding="utf-8", delete=False) as file:
        file.write("\n".join(str(word) for word in words))
    return file.name
