"""Errors of executors as errors of onecopy, with the sentence alone."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Iterator

from .._onecopy import OnecopyError


@contextmanager
def told_plainly() -> Iterator[None]:
    """Raises what a worker said as `OnecopyError`, without the traces of Java and Python around it."""
    try:
        yield
    except OnecopyError:
        raise
    except Exception as error:
        said = re.search(r"OnecopyError: (.+)", str(error))
        if said is None:
            raise
        raise OnecopyError(said.group(1).strip()) from error
