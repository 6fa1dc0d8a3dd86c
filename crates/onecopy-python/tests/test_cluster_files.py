"""Values of Parquet files are found at their places, and files get their names once."""

import os

import pytest

pytest.importorskip("pyspark")

import numpy
import pyarrow
from pyarrow import fs, parquet
from onecopy.spark import _copy
from onecopy.spark._small import ranges, reading


def sketches(count):
    """Pages of several sets, whose sketches have from no bytes to many."""
    sketch = [bytes([number % 256]) * (8 * (number * 7 % 50)) for number in range(count)]
    columns = {"set": [number // 3 for number in range(count)], "page": [f"p{number}" for number in range(count)]}
    return pyarrow.table({**columns, "sketch": pyarrow.array(sketch, pyarrow.binary())})


def found(path, sets):
    """The sketches of sets in a file, by page."""
    tables = [*reading.sketches_of([(4, path)], numpy.array(sets))]
    return {row["page"]: (row["segment"], row["set"], row["sketch"]) for table in tables for row in table.to_pylist()}


@pytest.mark.parametrize("style", [{}, {"use_dictionary": True}, {"compression": "snappy"}, {"data_page_size": 64, "write_batch_size": 4}])
def test_sketches_are_found_in_files_of_any_form(tmp_path, monkeypatch, style):
    table = sketches(100)
    whole = reading.with_sizes(table, "sketch")
    path = f"{tmp_path}/sketches.parquet"
    parquet.write_table(whole, path, row_group_size=17, **{**ranges.PLAIN, **style})
    sets = [0, 5, 6, 7, 20, 33]
    expected = {row["page"]: (4, row["set"], row["sketch"]) for row in table.to_pylist() if row["set"] in sets}
    by_groups, of_groups = [], reading.of_groups
    monkeypatch.setattr(reading, "of_groups", lambda *given: by_groups.append(1) or of_groups(*given))
    for together in (128 << 20, 300):
        monkeypatch.setattr(reading, "TOGETHER", together)
        assert found(f"file://{path}", sets) == expected and len(expected) == 16
        assert found(f"file://{path}", [1000]) == {}
    assert bool(by_groups) == bool(style)


def test_parts_of_files_of_other_systems_are_read(tmp_path, monkeypatch):
    table = reading.with_sizes(sketches(300), "sketch")
    path = f"file://{tmp_path}/sketches.parquet"
    reading.write_sketches(table, path.replace("sketches.parquet", "x/sketches.parquet"))
    path = path.replace("sketches.parquet", "x/sketches.parquet")
    sets = [2, 3, 50, 99]
    expected = found(path, sets)
    read, parts = [], ranges.parts

    def watched(*given):
        read.append(parts(*given))
        return read[-1]

    monkeypatch.setattr(ranges, "parts", watched)
    monkeypatch.setattr(ranges, "NEAR", 10)
    # Nothing is an instance of it, so that no file is mapped.
    monkeypatch.setattr(ranges.fs, "LocalFileSystem", type("Other", (), {}))
    assert found(path, sets) == expected and len(expected) == 12
    (data, _), size = read[0], os.path.getsize(path.removeprefix("file://"))
    assert len(data) < size / 10, f"{len(data)} of {size} bytes"


def test_another_length_before_a_value_is_noticed(tmp_path):
    path = f"file://{tmp_path}/x/sketches.parquet"
    reading.write_sketches(sketches(50), path)
    with reading.opened(path) as file:
        sizes = reading.numbers(file.read(columns=["size"])["size"])
        wanted = ranges.places(file.metadata, "sketch", sizes)
        assert ranges.places(file.metadata, "sketch", sizes[1:]) is None
    data, there = ranges.located(path, wanted)
    assert ranges.taken(data, there).to_pylist() == sketches(50)["sketch"].to_pylist()
    assert ranges.located(path, wanted._replace(end=wanted.end + 1)) is None
    assert ranges.located(path, ranges.Places(wanted.first + 10**6, wanted.end + 10**6)) is None


def test_keys_come_with_their_parts(tmp_path):
    table = reading.with_sizes(pyarrow.table({"part": pyarrow.array([2, 0, 1], pyarrow.int32()), "keys": [b"xy", b"", b"z"]}), "keys")
    for style in (ranges.PLAIN, {}):
        parquet.write_table(table, tmp_path / "keys.parquet", **style)
        rows = [row for some in reading.keys_of(f"file://{tmp_path}/keys.parquet") for row in some.to_pylist()]
        assert [(row["part"], row["keys"]) for row in rows if row["part"] >= 0] == [(2, b"xy"), (0, b""), (1, b"z")]


def test_a_complete_file_keeps_its_name(tmp_path):
    files, goal = fs.LocalFileSystem(), f"{tmp_path}/kept"

    class Late:
        """A file system on which another attempt takes the name just before this one."""

        get_file_info, delete_file = files.get_file_info, files.delete_file

        def move(self, draft, goal):
            files.move(f"{tmp_path}/other", goal)
            raise OSError("it exists")

    def draft(name, text):
        (tmp_path / name).write_text(text)
        return f"{tmp_path}/{name}"

    _copy.give_name(files, draft("first", "one"), goal)
    _copy.give_name(files, draft("second", "two"), goal)
    assert (tmp_path / "kept").read_text() == "one" and os.listdir(tmp_path) == ["kept"]
    os.remove(goal)
    draft("other", "three")
    _copy.give_name(Late(), draft("third", "four"), goal)
    assert (tmp_path / "kept").read_text() == "three"
