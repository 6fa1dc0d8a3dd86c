"""Pages that repeat a page of a base go, and the base stays as it is."""

import json

import pytest

import onecopy

pandas = pytest.importorskip("pandas")


def test_a_base_gives_the_answer_of_the_program(pages, tmp_path):
    good = [page for page in pages if page["text"] and page["text"] != "!?"]
    base, new = good[:50], good[50:]
    for name, part in (("base", base), ("new", new)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(page) + "\n" for page in part))
    files = onecopy.dedup(tmp_path / "new.jsonl", against=tmp_path / "base.jsonl", out=tmp_path / "out", quiet=True)
    facts = lambda rows: [(row["page"], row["winner"], row["similarity"], row["kind"]) for row in rows]
    in_base = {page["id"] for page in base}
    assert any(row["winner"] in in_base for row in files.removed)
    kept = [json.loads(line)["id"] for line in (files.kept / "new.jsonl").open()]
    assert [path.name for path in files.kept.iterdir()] == ["new.jsonl"]
    for data in (base, pandas.DataFrame(base), tmp_path / "base.jsonl"):
        found = onecopy.dedup(new, against=data, quiet=True)
        assert facts(found.removed) == facts(files.removed)
        assert [page["id"] for page in found.kept] == kept
        sources = {row["winner"] in in_base: row["winner_source"] for row in found.removed}
        assert sources[False] == "data" and sources[True].startswith("base")
        assert not in_base & {row["page"] for row in found.removed}


def test_a_test_set_stays_out_of_training_data():
    sentence = "the lighthouse keeper wrote down the weather of every single day in his long life by the sea"
    long = f"{' '.join(str(n) for n in range(200))} {sentence} and so on"
    training = [{"id": 1, "text": long}, {"id": 2, "text": "something else entirely"}]
    found = onecopy.dedup(training, against=[{"id": "test", "text": sentence}], method="containment", quiet=True)
    assert [page["id"] for page in found.kept] == [2]
    assert found.removed[0]["winner"] == "test"


def test_paths_need_paths(tmp_path):
    with pytest.raises(onecopy.OnecopyError, match="paths need a base of paths"):
        onecopy.dedup(tmp_path / "x.jsonl", against=[{"text": "x"}], out=tmp_path / "out")
