"""The same answer as the program, from every form of data."""

import pickle

import pytest

import onecopy

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")


def check(found, expected, rows=lambda table: table):
    """The result has the program's removed pages, groups and rejected pages."""
    fields = ("page", "winner", "similarity", "kind")
    removed = [tuple(row[name] for name in fields) for row in rows(found.removed)]
    assert removed == [tuple(row[name] for name in fields) for row in expected["removed"]]
    places = [(row["row"] + 1, row["winner_row"] + 1) for row in rows(found.removed)]
    assert places == [(row["line"], row["winner_line"]) for row in expected["removed"]]
    members = {}
    for row in rows(found.groups):
        members.setdefault(row["group"], []).append(row["page"])
    assert members == {group["group"]: group["members"] for group in expected["groups"]}
    rejected = [(row["row"] + 1, row["page"]) for row in rows(found.rejected)]
    assert rejected == [(row["line"], row.get("page")) for row in expected["rejected"]]
    kept = [page["page"] for page in expected["pages"] if page["status"] == "kept"]
    assert [row["id"] for row in rows(found.kept)] == kept


def test_dictionaries_give_the_answer_of_the_program(pages, program):
    found = onecopy.dedup(iter(pages), quiet=True)
    check(found, program(pages))
    assert all(any(page is own for own in pages) for page in found.kept)
    assert found.report["kept"] == len(found.kept)
    assert repr(found).startswith("<onecopy.Deduplicated: ")


@pytest.mark.parametrize("method", ["jaccard", "containment", "simhash", "lcs", "shingles-b"])
def test_other_methods_and_options_count(pages, program, method):
    found = onecopy.dedup(pages, method=method, winner=["newer", "short-url"], keep_case=True, quiet=True)
    check(found, program(pages, "--method", method, "--winner", "newer,short-url", "--keep-case"))


def test_pandas(pages, program):
    frame = pandas.DataFrame(pages, index=range(1000, 1000 + len(pages)))
    found = onecopy.dedup(frame, quiet=True)
    check(found, program(pages), lambda table: table.to_dict("records"))
    assert type(found.kept) is type(found.removed) is pandas.DataFrame
    assert found.kept.index[0] - 1000 == int(found.kept["id"].iloc[0][1:]) and list(found.kept.columns) == list(frame.columns)


def test_pyarrow_tables_datasets_and_readers(pages, program, tmp_path):
    table = pyarrow.Table.from_pylist(pages)
    small = pyarrow.concat_tables([table.slice(0, 7), table.slice(7, 50), table.slice(57)])
    expected = program(pages)
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "pages.parquet")
    dataset = pytest.importorskip("pyarrow.dataset").dataset(tmp_path / "pages.parquet")
    views = table.set_column(1, "text", table["text"].cast(pyarrow.string_view()))
    coded = table.set_column(1, "text", table["text"].dictionary_encode())
    large = table.set_column(1, "text", table["text"].cast(pyarrow.large_string()))
    for data in (table, small, small.to_reader(), dataset, views, coded, large):
        found = onecopy.dedup(data, quiet=True)
        check(found, expected, lambda table: table.to_pylist())
        assert isinstance(found.kept, pyarrow.Table)


def test_polars(pages, program):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(pages)
    for data in (frame, frame.lazy()):
        found = onecopy.dedup(data, quiet=True)
        check(found, program(pages), lambda table: table.to_dicts())
        assert type(found.kept) is type(found.groups) is polars.DataFrame


def test_hugging_face_datasets(pages, program):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(pages)
    found = onecopy.dedup(data, quiet=True)
    check(found, program(pages), lambda table: table.to_list())
    assert isinstance(found.kept, datasets.Dataset)
    shuffled = data.select(range(len(pages) - 1, -1, -1))
    ids = lambda found: sorted(row["id"] for row in found.kept)
    assert ids(onecopy.dedup(shuffled, quiet=True)) == ids(found)
    with pytest.raises(onecopy.OnecopyError, match="give one of them"):
        onecopy.dedup(datasets.DatasetDict({"train": data}))


def test_rows_without_names_are_judged_as_those_of_parquet(pages, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    bare = [{"text": page["text"].upper() if number % 3 else page["text"]} for number, page in enumerate(pages) if page["text"]]
    table = pyarrow.Table.from_pylist(bare + bare[:10])
    parquet.write_table(table, tmp_path / "bare.parquet")
    files = onecopy.dedup(tmp_path / "bare.parquet", out=tmp_path / "out", quiet=True)
    found = onecopy.dedup(table, quiet=True)
    rows = [(row["row"], row["winner_row"], row["similarity"]) for row in found.removed.to_pylist()]
    assert rows == [(row["row"] - 1, row["winner_row"] - 1, row["similarity"]) for row in files.removed]
    assert len(parquet.read_table(files.kept)) == len(found.kept) == files.report["kept"]


def test_structures_and_times(tmp_path):
    pages = [{"meta": {"text": "one two three four five six", "day": day}, "id": day} for day in (3, 1, 2)]
    for data in (pages, pyarrow.Table.from_pylist(pages)):
        found = onecopy.dedup(data, text_field="meta.text", time_field="meta.day", winner="older", quiet=True)
        kept = found.kept if isinstance(found.kept, list) else found.kept.to_pylist()
        assert [page["id"] for page in kept] == [1]


def test_results_can_be_pickled(pages):
    for data in (pages, pandas.DataFrame(pages), pyarrow.Table.from_pylist(pages)):
        found = onecopy.dedup(data, quiet=True)
        again = pickle.loads(pickle.dumps(found))
        assert again.report == found.report and len(again.kept) == len(found.kept)
        assert type(again.removed) is type(found.removed)
