"""Versions of a collection in a folder: each is one small file, made in one step, that names the tables it consists of.

    versions/00000003.json   what version 3 consists of; the highest number is the current version
    tables/3-…/facts         pages that came with version 3: texts, ranks, addresses and links as numbers
    tables/3-…/dead          names of pages that died with it
    tables/3-…/keys          keys of the pages that came
    tables/3-…/sets          contents that may be similar to others, and their sets, where version 3 changed them
    tables/3-…/sketches      sketches of pages that came, and of all pages in sets that it changed
    tables/3-…/settled       decisions about compared pages that it changed; decided: the names of these pages
    tables/3-…/pages         status of pages that it may have changed
    tables/3-…/feed          status of pages that it changed
    tables/3-…/leads         where redirects and canonical links lead, of all pages
"""

from __future__ import annotations

import json
import os
import uuid
from typing import Any, Optional

from .. import _onecopy
from .._onecopy import OnecopyError


# The layout of tables that this onecopy reads and writes.
LAYOUT = 3


class Store:
    """A folder of versions, on any file system that Spark knows."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark = spark
        self.folder = folder.rstrip("/")
        self._hadoop = spark.sparkContext._jvm.org.apache.hadoop.fs
        path = self._hadoop.Path(self.folder)
        self._files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())

    def path(self, *parts: str) -> str:
        return "/".join([self.folder, *parts])

    def current(self) -> Optional[dict[str, Any]]:
        """The current version; nothing if there is no collection."""
        names = sorted(name for name in self._names("versions") if name.endswith(".json"))
        if not names:
            return None
        state = json.loads(self._read(self.path("versions", names[-1])))
        if state["answer_version"] != _onecopy.ANSWER_VERSION:
            raise OnecopyError(
                f"{self.folder}: its answers are of version {state['answer_version']} (onecopy {state['onecopy']}), "
                f"and this onecopy gives version {_onecopy.ANSWER_VERSION}: begin a new collection"
            )
        if state.get("layout") != LAYOUT:
            raise OnecopyError(f"{self.folder}: onecopy {state['onecopy']} wrote it in another layout: begin a new collection")
        return state

    def new_tables(self, version: int) -> str:
        """A folder for the tables of a new version. No other update uses it."""
        return f"tables/{version}-{uuid.uuid4().hex[:12]}"

    def publish(self, state: dict[str, Any]) -> None:
        """Makes a version the current one, in one step, unless another update was faster."""
        versions = {"answer_version": _onecopy.ANSWER_VERSION, "layout": LAYOUT, "onecopy": _onecopy.__version__}
        state = {**state, **versions}
        goal = self.path("versions", f"{state['version']:08}.json")
        draft = self.path("versions", f".{uuid.uuid4().hex}")
        self._write(draft, json.dumps(state, indent=1))
        try:
            done = self._take_name(draft, goal)
        finally:
            self.delete(draft)
        if not done:
            raise OnecopyError(
                f"{self.folder}: another update has made version {state['version']} meanwhile; "
                "nothing of this update was written: run it again"
            )

    def exists(self) -> bool:
        return self._files.exists(self._hadoop.Path(self.folder))

    def rename(self, to: "Store") -> None:
        """Gives the folder another name, in one step."""
        # Hadoop moves a folder into one that has its new name.
        if to.exists() or not self._files.rename(self._hadoop.Path(self.folder), self._hadoop.Path(to.folder)):
            raise OnecopyError(f"{to.folder}: it exists already; choose a new folder for the results")

    def mark(self, *parts: str) -> None:
        """Makes an empty file."""
        self._write(self.path(*parts), "")

    def delete(self, path: str) -> None:
        self._files.delete(self._hadoop.Path(path), True)

    def files(self, *parts: str) -> list[str]:
        """The full paths of the Parquet files in a folder."""
        path = self._hadoop.Path(self.path(*parts))
        found = (file.getPath() for file in self._files.listStatus(path))
        return sorted(known_to_all(file.toUri().toString()) for file in found if file.getName().endswith(".parquet"))

    def full(self, *parts: str) -> str:
        """The full path of a folder, with the name of its file system."""
        path = self._files.makeQualified(self._hadoop.Path(self.path(*parts)))
        return known_to_all(path.toUri().toString())

    def _take_name(self, draft: str, goal: str) -> bool:
        """Gives a file its name, unless the name is taken."""
        local = self._local(draft)
        if local is not None:
            try:
                os.link(local, self._local(goal))
                return True
            except FileExistsError:
                return False
        source, to = self._hadoop.Path(draft), self._hadoop.Path(goal)
        return not self._files.exists(to) and self._files.rename(source, to)

    def _local(self, path: str) -> Optional[str]:
        """The path as this machine knows it, if it is on a local file system."""
        full = self._files.makeQualified(self._hadoop.Path(path)).toUri()
        return full.getPath() if full.getScheme() == "file" else None

    def _names(self, folder: str) -> list[str]:
        path = self._hadoop.Path(self.path(folder))
        if not self._files.exists(path):
            return []
        return [file.getPath().getName() for file in self._files.listStatus(path)]

    def _read(self, path: str) -> str:
        stream = self._files.open(self._hadoop.Path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def _write(self, path: str, text: str) -> None:
        stream = self._files.create(self._hadoop.Path(path), False)
        try:
            stream.write(text.encode())
        finally:
            stream.close()


def known_to_all(path: str) -> str:
    """A path with the empty name of this machine, which Hadoop leaves out and others want."""
    return path.replace("file:/", "file:///", 1) if ":///" not in path[:8] else path
