"""The rest of the package: options, the program, pages, columns, collections."""

import inspect
import json
import pickle
import subprocess
import sys
import threading

import pytest

import onecopy
from onecopy import _onecopy

# `json` and `timings` print the report, which Python returns.
NOT_IN_PYTHON = {"json", "help", "timings"}


def as_text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(value) or None
    return None if value is None or value is False else str(value)


def test_options_have_the_names_and_defaults_of_the_program():
    program = {name.replace("-", "_"): default for name, default, *_ in _onecopy.options("dedup")}
    parameters = inspect.signature(onecopy.dedup).parameters
    python = {name: as_text(it.default) for name, it in parameters.items() if name != "data"}
    assert {name: default for name, default in program.items() if name not in NOT_IN_PYTHON} == python
    for name, default, values, takes_value, _ in _onecopy.options("dedup"):
        if values and name.replace("-", "_") not in ("winner", "lists"):
            assert default in values, name
        assert takes_value or default is None


def test_refine_groups_as_the_program(tmp_path, pages):
    hits = [{"id": page["id"], "text": page["text"] or "", "score": 1 / (1 + n)} for n, page in enumerate(pages)]
    (tmp_path / "hits.json").write_text(json.dumps(hits))
    call = [sys.executable, "-m", "onecopy", "refine", str(tmp_path / "hits.json"), "--json", "--drop", "--keep=9"]
    program = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    with pytest.warns(UserWarning):
        onecopy.refine(hits + hits[:1])
    assert onecopy.refine(hits, drop=True, keep=9) == program["results"]
    names = {name.replace("-", "_") for name, *_ in _onecopy.options("refine")} - NOT_IN_PYTHON - {"jsonl"}
    parameters = inspect.signature(onecopy.refine).parameters
    assert names == parameters.keys() - {"results"}
    assert {name: default for name, default, *_ in _onecopy.options("refine")}["method"] == parameters["method"].default
    with pytest.raises(onecopy.OnecopyError, match="result 1: its field text is a number"):
        onecopy.refine([{"id": 1, "text": 2}])


def test_every_method_runs():
    page = {"text": "one two three four five six seven eight nine ten", "url": "http://a.example/"}
    for method in onecopy.methods():
        found = onecopy.dedup([{**page, "id": 1}, {**page, "id": 2}], method=method, recall_pages=0, quiet=True)
        assert len(found.kept) == 1, method


def test_python_m_is_the_program(tmp_path):
    run = lambda *call: subprocess.run([sys.executable, "-m", "onecopy", *call], capture_output=True, text=True)
    assert run("--version").stdout.startswith(f"onecopy {onecopy.__version__}")
    assert run("dedup").returncode == 2
    assert run("explain", str(tmp_path), "a").returncode == 1


def test_paths(tmp_path, pages):
    given = tmp_path / "pages.jsonl"
    given.write_text("".join(json.dumps(page) + "\n" for page in pages))
    files = onecopy.dedup(given, out=tmp_path / "out", quiet=True)
    found = onecopy.dedup(pages, quiet=True)
    assert [row["page"] for row in files.removed] == [row["page"] for row in found.removed]
    kept = [json.loads(line)["id"] for line in (files.kept / "pages.jsonl").open()]
    assert kept == [page["id"] for page in found.kept]


def test_compare_and_extract(tmp_path):
    one, other = "one two three four five six", "one two three four five seven"
    found = onecopy.compare(one, other)
    assert {verdict["method"] for verdict in found["methods"]} >= {"jaccard", "containment"}
    (tmp_path / "a.txt").write_text(one)
    assert onecopy.compare(tmp_path / "a.txt", one)["exact"]
    menu = "<ul>" + "".join(f"<li><a href=/{n}>menu {n}</a></li>" for n in range(20)) + "</ul>"
    story = "".join(f"<p>The story of day {n} was long, and nobody who read it forgot the end of it.</p>" for n in range(9))
    page = f"<!doctype html><html><body><nav>{menu}</nav><article>{story}</article></body></html>"
    assert "menu" not in onecopy.extract(page) and "menu 3" in onecopy.extract(page, content="all")
    with pytest.raises(onecopy.OnecopyError, match="content is"):
        onecopy.extract(page, content="some")


def test_columns_give_the_groups_of_dedup(pages):
    texts = [page["text"] or "" for page in pages]
    sketches = onecopy.sketch(texts, method="jaccard")
    rarity, other = onecopy.Rarity(12), onecopy.Rarity(12)
    rarity.count(sketches)
    other.merge(pickle.loads(pickle.dumps(rarity)))
    assert other.to_bytes() == rarity.to_bytes()
    holders = {}
    for row, keys in enumerate(onecopy.keys(sketches, other, method="jaccard").to_pydict()["keys"]):
        for key in keys:
            holders.setdefault(key, []).append(row)
    pairs = sorted({(a, b) for rows in holders.values() for a in rows for b in rows if a < b})
    all_sketches = sketches.to_pydict()["sketch"]
    pyarrow = pytest.importorskip("pyarrow")
    sides = pyarrow.table({side: pyarrow.array([all_sketches[pair[at]] for pair in pairs], pyarrow.list_(pyarrow.uint64()))
                           for at, side in enumerate(("a", "b"))})
    found = onecopy.verdicts(sides, method="jaccard").to_pydict()["similarity"]
    alike = {pair for pair, similarity in zip(pairs, found) if similarity is not None}
    sets = [set(sketch) for sketch in all_sketches]
    every = {(a, b) for b in range(len(sets)) for a in range(b) if sets[a] and len(sets[a] & sets[b]) >= 0.8 * len(sets[a] | sets[b])}
    assert alike == every and len(every) > 20


def test_a_collection_answers_as_dedup(tmp_path, pages):
    good = [{**page} for page in pages if page["text"] and page["text"] != "!?"]
    for page in good:
        page.pop("redirect", None)
    with onecopy.Collection(tmp_path / "pages") as collection:
        collection.put(*good)
        collection.settle()
        removed = {row["page"]: row["winner"] for row in onecopy.dedup(good, quiet=True).removed}
        found = {page["id"]: collection.status(page["id"]) for page in good}
        assert {name: it["winner"] for name, it in found.items() if it["status"] == "loser"} == removed
        changes, cursor = collection.feed()
        assert len(changes) >= len(good) and collection.feed(cursor)[0] == []
        assert sum(1 for _ in collection.groups()) > 5
        group = next(collection.groups())
        assert collection.group(group["group"]) is not None
        collection.delete(good[0]["id"])
        collection.settle()
        assert collection.status(good[0]["id"]) is None
        with pytest.raises(onecopy.OnecopyError, match="page 0: .*text"):
            collection.put({"id": "x"})
        assert collection.stats()["pages"] == len(good) - 1
    with pytest.raises(onecopy.OnecopyError, match="closed"):
        collection.status("p1")
    with pytest.raises(onecopy.OnecopyError):
        onecopy.Collection(tmp_path / "none", existing=True)


def test_other_threads_run_meanwhile(pages):
    done = []
    worker = threading.Thread(target=lambda: done.append(onecopy.dedup(pages, quiet=True)))
    worker.start()
    onecopy.dedup(pages, quiet=True)
    worker.join(20)
    assert len(done) == 1


def test_progress_is_told_in_a_terminal(pages, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    onecopy.dedup(pages)
    assert "write" in capsys.readouterr().err
