"""`onecopy.spark.update`."""

from __future__ import annotations

from typing import Any


def update(collection: str, new_pages: Any) -> Any:
    raise NotImplementedError
