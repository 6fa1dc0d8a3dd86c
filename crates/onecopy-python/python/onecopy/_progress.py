"""A progress bar for terminals and notebooks. It needs no other package."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional

Listener = Callable[..., None]


def listener(quiet: bool) -> Optional[Listener]:
    """What a run tells its progress to; nothing if nobody looks."""
    if quiet:
        return None
    if _in_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None else None
    return current is not None and type(current).__name__ == "ZMQInteractiveShell"


class _Terminal:
    width = 30

    def __init__(self) -> None:
        self.shown = ""

    def __call__(self, stage: str, done: Optional[int] = None, total: int = 0) -> None:
        if done is None:
            self._write(f"onecopy: {stage}\n")
            return
        share = min(done / total, 1.0) if total else 0.0
        bar = "█" * int(share * self.width)
        self._write(f"{stage:>8} {bar:<{self.width}} {share:4.0%}")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + " " * len(self.shown) + "\r" + text)
        sys.stderr.flush()
        self.shown = "" if text.endswith("\n") else text

    def close(self) -> None:
        """Removes the bar."""
        self._write("")


class _Notebook:
    def __init__(self) -> None:
        from IPython.display import HTML, display

        self.html: Any = HTML
        self.handle = display(HTML(""), display_id=True)

    def __call__(self, stage: str, done: Optional[int] = None, total: int = 0) -> None:
        if done is None:
            return
        bar = f'<progress value="{done}" max="{max(total, 1)}"></progress> {stage}'
        self.handle.update(self.html(bar))

    def close(self) -> None:
        """Removes the bar."""
        self.handle.update(self.html(""))
