"""`onecopy.dedup`: over files as the program does it, and over data in memory."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from . import _onecopy
from ._frames import Frame, frame, is_paths, pages
from ._onecopy import OnecopyError
from ._options import arguments
from ._progress import listener

Several = Union[str, Iterable[str]]
File = Union[str, "os.PathLike[str]"]

# Options that are about files. Data in memory has none.
ABOUT_FILES = ("lists_only", "lists", "removed_records", "payloads", "cdxj", "overwrite", "strict", "max_expansion")


class Deduplicated:
    """The result of a run. All tables have the form of the data that was given.

    kept      the rows that stay, with all their columns; for paths, the folder with the kept pages
    removed   page, row, winner, winner_row, similarity, kind of each removed row
    groups    group, page, row, status of each page of a group
    rejected  page, row, reason of each row that could not be judged
    report    the numbers of the run, as in report.json

    Rows count from zero. For paths, the tables are lists of dictionaries as in the program's files.
    """

    def __init__(self, parts: dict[str, Any], report: dict[str, Any]) -> None:
        self._parts = parts
        self.report = report

    def _part(self, name: str) -> Any:
        part = self._parts[name]
        if callable(part):
            part = self._parts[name] = part()
        return part

    @property
    def kept(self) -> Any:
        """The pages that stay."""
        return self._part("kept")

    @property
    def removed(self) -> Any:
        """The removed pages, each with its winner and their similarity."""
        return self._part("removed")

    @property
    def groups(self) -> Any:
        """The groups of similar pages."""
        return self._part("groups")

    @property
    def rejected(self) -> Any:
        """The pages that could not be judged, each with the reason."""
        return self._part("rejected")

    def __getstate__(self) -> dict[str, Any]:
        parts = {name: self._part(name) for name in self._parts}
        return {"_parts": parts, "report": self.report}

    def __repr__(self) -> str:
        counts = (f"{self.report[name]} {name}" for name in ("kept", "removed", "rejected"))
        return f"<onecopy.Deduplicated: {', '.join(counts)}>"


def dedup(
    data: Any,
    *,
    out: Optional[File] = None,
    against: Any = (),
    lists_only: bool = False,
    lists: Several = (),
    method: str = "auto",
    threshold: Optional[float] = None,
    shingle: int = 5,
    unit: str = "words",
    winner: Several = ("popularity", "static", "short-url", "older", "longer"),
    market: Several = (),
    address_rules: Optional[File] = None,
    popularity: Optional[File] = None,
    removed_records: str = "revisit",
    payloads: str = "pages",
    cdxj: bool = False,
    memory: Union[str, int] = "1G",
    recall_pages: int = 200,
    threads: Optional[int] = None,
    overwrite: bool = False,
    strict: bool = False,
    quiet: bool = False,
    text_field: Optional[str] = None,
    id_field: Optional[str] = None,
    url_field: Optional[str] = None,
    time_field: Optional[str] = None,
    popularity_field: Optional[str] = None,
    redirect_field: Optional[str] = None,
    canonical_field: Optional[str] = None,
    content: str = "auto",
    words: str = "auto",
    keep_case: bool = False,
    keep_punctuation: bool = False,
    drop_numbering: bool = False,
    count_replicas: bool = False,
    stop_words: Union[File, Sequence[str], None] = None,
    max_page: Union[str, int] = "4M",
    max_expansion: int = 1000,
) -> Deduplicated:
    """Removes exact and near-duplicate pages, and names for each the page that stays and their similarity.

    `data` is a list of dictionaries, a table of pandas, polars, pyarrow or Hugging Face `datasets`, or paths of files.
    All options are those of `onecopy dedup --help`. Paths need `out`, a folder for the results.

    Pages that repeat a page of `against`, the base, go too. The base is data or paths, and stays as it is. Rows of
    `removed` then say in `winner_source` whether the winner is in the base.

    >>> import onecopy
    >>> pages = [{"id": "a", "text": "one two three four five six seven"}] * 1
    >>> onecopy.dedup(pages, quiet=True)
    <onecopy.Deduplicated: 1 kept, 0 removed, 0 rejected>
    """
    given = dict(locals())
    data, out, quiet = given.pop("data"), given.pop("out"), given.pop("quiet")
    base = given.pop("against")
    has_base = base is not None and not (isinstance(base, tuple) and not base)
    if is_paths(data):
        if has_base and not is_paths(base):
            raise OnecopyError("paths need a base of paths: give against as paths, too")
        return _of_files(data, out, quiet, given, _paths(base) if has_base else [])
    if out is not None:
        raise OnecopyError("out is for paths: data in memory gives its result back")
    for name in ABOUT_FILES:
        if given[name] != DEFAULTS[name]:
            raise OnecopyError(f"{name} is for paths: leave it out for data in memory")
    if has_base and not is_paths(base):
        return _of_rows(frame(data), quiet, given, frame(base))
    return _of_rows(frame(data), quiet, given, None, _paths(base) if has_base else [])


DEFAULTS = {name: it.default for name, it in inspect.signature(dedup).parameters.items()}


def _paths(data: Any) -> list[str]:
    return [os.fspath(item) for item in ([data] if isinstance(data, (str, os.PathLike)) else data)]


def _of_rows(
    data: Frame, quiet: bool, given: dict[str, Any], base: Optional[Frame] = None, files: Sequence[str] = ()
) -> Deduplicated:
    texts, others = _onecopy.field_names()
    texts = texts if given["text_field"] is None else [given["text_field"]]
    others = others + [value for name, value in given.items() if name.endswith("_field") and value is not None]
    told = listener(quiet)
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        options = arguments(given, DEFAULTS, folder) + [f"--against={file}" for file in files]
        given_base = None if base is None else pages(base, texts, others)
        try:
            found = _onecopy.dedup_rows(pages(data, texts, others), given_base, options, os.path.join(folder, "work"), told)
        finally:
            if told is not None:
                told.close()
    report, removed, groups, judged, rejected = found
    report = json.loads(report)
    if report["read"] == report["rejected"]:
        first = rejected.to_pydict()
        where, why = first["row"][0], first["reason"][0]
        raise OnecopyError(f"none of the {report['read']} rows could be judged; row {where}: {why}")
    status = judged.to_pydict()
    rows = [row for row, word in zip(status["row"], status["status"]) if word == "kept"]
    parts = {"removed": removed, "groups": groups, "rejected": rejected}
    made = {name: (lambda table=table: data.table(table)) for name, table in parts.items()}
    return Deduplicated({"kept": lambda: data.take(rows), **made}, report)


def _of_files(
    data: Any, out: Optional[File], quiet: bool, given: dict[str, Any], base: Sequence[str]
) -> Deduplicated:
    if out is None:
        raise OnecopyError("paths need a folder for the results: give out")
    told = listener(quiet)
    with tempfile.TemporaryDirectory(prefix="onecopy-") as folder:
        options = arguments(given, DEFAULTS, folder) + [f"--against={file}" for file in base]
        try:
            report = _onecopy.dedup_files(_paths(data), options, os.fspath(out), told)
        finally:
            if told is not None:
                told.close()
    results = Path(out)
    lists = {name: (lambda name=name: _lines(results / f"{name}.jsonl")) for name in ("removed", "groups", "rejected")}
    return Deduplicated({"kept": results / "kept", **lists}, json.loads(report))


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
