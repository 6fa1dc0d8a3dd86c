"""Updates of a collection in Parquet files give the answer of a whole run over all pages."""

import json

import pytest

pytest.importorskip("pyspark")

import onecopy
import onecopy.spark
from onecopy.spark import _collection, _sketches
from onecopy.spark._small import segment as small
from onecopy.spark._versions import Store
from spark_pages import corpus, frame, one_machine


def answer(pages):
    """The pages of a version, in the form of `one_machine`."""
    rows = [row.asDict() for row in pages.collect()]
    groups = {}
    for row in rows:
        if row["group"] is not None:
            groups.setdefault(row["group"], []).append((row["page"], row["status"]))
    removed = [row for row in rows if row["status"] == "removed"]
    return {
        "removed": sorted((row["page"], row["winner"], row["similarity"], row["kind"]) for row in removed),
        "groups": sorted((best, sorted(members)) for best, members in groups.items()),
        "rejected": sorted((row["page"], row["reason"]) for row in rows if row["status"] == "rejected"),
        "kept": sorted(row["page"] for row in rows if row["status"] == "kept"),
    }


def test_updates_give_the_answer_of_a_whole_run(spark, tmp_path, monkeypatch):
    folder, pages = str(tmp_path / "collection"), corpus(6, 240)
    current = {page["id"]: page for page in pages[:160]}
    made = onecopy.spark.update(folder, frame(spark, pages[:160]))
    assert made.version == 1 and made.feed.count() == made.pages.count() == 160
    assert answer(made.pages) == one_machine(list(current.values()))
    # New pages, new versions of old ones, redirects in both, and dead pages.
    changed = [{**page, "text": pages[number + 40]["text"]} for number, page in enumerate(pages[:30])]
    changed[3]["redirect"], changed[7]["canonical"] = pages[50]["url"], pages[47]["url"]
    dead = [page["id"] for page in pages[100:110]]
    before = {row["page"]: row.asDict() for row in made.pages.collect()}
    monkeypatch.setattr(_collection, "SEGMENTS", 1)
    made = onecopy.spark.update(folder, frame(spark, changed + pages[160:]), dead=dead)
    current.update({page["id"]: page for page in changed + pages[160:]})
    current = {name: page for name, page in current.items() if name not in dead}
    assert answer(made.pages) == one_machine(list(current.values()))
    # The feed leads from one version to the next.
    for row in made.feed.collect():
        line = row.asDict()
        assert line.pop("before") == before.get(line["page"], {}).get("status")
        before.pop(line["page"], None)
        if line["status"] != "dead":
            before[line["page"]] = line
    assert before == {row["page"]: row.asDict() for row in made.pages.collect()}
    assert {row["page"] for row in made.feed.where("status = 'dead'").collect()} == set(dead)
    # The tables of both were merged, and the next update reads them.
    made = onecopy.spark.update(folder, frame(spark, []), dead=["p2", "p170"])
    current = {name: page for name, page in current.items() if name not in ("p2", "p170")}
    assert made.version == 3 and answer(made.pages) == one_machine(list(current.values()))


def test_several_segments_and_other_file_systems_give_the_same(spark, tmp_path, monkeypatch):
    folder, pages = str(tmp_path / "collection"), corpus(9, 150)
    current, found = {}, {"sketches": 0}
    find, opens = _sketches.find, _sketches.can_open

    def count_sketches(*given):
        rows = find(*given)
        found["sketches"] += rows.count()
        return rows

    monkeypatch.setattr(_sketches, "find", count_sketches)
    # Pages come back with another text, die and come back, and their links change. The last update reads all sketches.
    steps = [(pages[:90], []), (pages[90:120], ["p3", "p4"]), (pages[120:] + pages[3:4], ["p95", "p20"])]
    texts = [{**page, "text": pages[number + 60]["text"], "redirect": None} for number, page in enumerate(pages[:25])]
    steps += [(texts, ["p130"]), (pages[:12], [])]
    for number, (new, dead) in enumerate(steps):
        monkeypatch.setattr(_sketches, "can_open", opens if number < 4 else lambda paths: False)
        made = onecopy.spark.update(folder, frame(spark, new), dead=dead)
        current.update({page["id"]: page for page in new})
        current = {name: page for name, page in current.items() if name not in dead}
        assert made.version == number + 1 and answer(made.pages) == one_machine(list(current.values())), number
    assert found["sketches"] > 100
    again = onecopy.spark.current(spark, folder)
    assert again.version == 5 and answer(again.pages) == answer(made.pages)
    assert again.feed.count() == made.feed.count()
    with pytest.raises(onecopy.OnecopyError, match="there is no collection"):
        onecopy.spark.current(spark, str(tmp_path / "none"))


def unlinked(pages):
    """The pages without redirects and canonical links."""
    return [{**page, "redirect": None, "canonical": None, "text": (page["text"] or "").replace("canonical", "x")} for page in pages]


def test_small_updates_give_the_answer_of_a_whole_run(spark, tmp_path, monkeypatch):
    folder, pages = str(tmp_path / "collection"), unlinked(corpus(11, 260))
    write, bins, opens, written = small.SmallSegment.write, small.SmallSegment._bins, _sketches.can_open, []
    monkeypatch.setattr(small.SmallSegment, "write", lambda self: written.append(write(self)) or written[-1])
    monkeypatch.setattr(_collection, "SEGMENTS", 6)
    again = [{**page, "text": pages[number + 60]["text"]} for number, page in enumerate(pages[:25])]
    # Pages come, change, die, and come back. Some updates take a cluster, and the last ones merge segments before.
    whole = {"can_open": lambda paths: False}
    steps = [
        (pages[:140], [], {}),
        (pages[140:170], ["p3", "p4", "none"], {}),
        (again, ["p130", "p150"], {}),
        (pages[170:200], ["p141"], whole),
        (pages[200:215] + pages[3:4] + pages[:2], ["p20", "p2"], {}),
        (pages[215:230], [], {"large": True}),
        (pages[230:245] + pages[140:142], ["p5"], {"PAGES": 10}),
        (pages[245:], ["p6", "p231"], {}),
        ([], ["p7", "p8", "p246"], {}),
    ]
    current, before, ways = {}, {}, []
    for number, (new, dead, how) in enumerate(steps):
        monkeypatch.setattr(_sketches, "can_open", how.get("can_open", opens))
        monkeypatch.setattr(small, "PAGES", how.get("PAGES", 200_000))
        monkeypatch.setattr(small.SmallSegment, "_bins", (lambda *given: None) if "large" in how else bins)
        written.clear()
        names = dead if number % 2 else spark.createDataFrame([(name,) for name in dead], "name string")
        made = onecopy.spark.update(folder, frame(spark, new), dead=names)
        ways.append(bool(written and written[0] is not None))
        current.update({page["id"]: page for page in new})
        current = {name: page for name, page in current.items() if name not in dead or page in new}
        assert answer(made.pages) == one_machine(list(current.values())), number
        for row in made.feed.collect():
            line = row.asDict()
            assert line.pop("before") == before.get(line["page"], {}).get("status"), number
            assert line != before.pop(line["page"], None), number
            if line["status"] != "dead":
                before[line["page"]] = line
        assert before == {row["page"]: row.asDict() for row in made.pages.collect()}, number
    assert ways == [False, True, True, False, True, False, False, True, True]
    twice = frame(spark, [pages[0], pages[0]])
    with pytest.raises(onecopy.OnecopyError, match="2 rows have the same `id`: 'p0'"):
        onecopy.spark.update(folder, twice)
    assert onecopy.spark.current(spark, folder).version == 9


def test_small_updates_know_pages_by_numbers(spark, tmp_path):
    folder, pages = str(tmp_path / "collection"), unlinked(corpus(12, 120))
    rows = [(number, page["text"]) for number, page in enumerate(pages)]
    make = lambda some: spark.createDataFrame(some, "id int, text string").repartition(2)
    onecopy.spark.update(folder, make(rows[:80]))
    made = onecopy.spark.update(folder, make(rows[80:] + rows[5:9]), dead=[3])
    expected = one_machine([{"id": str(number), "text": text} for number, text in rows if number != 3])
    found = answer(made.pages)
    assert [str(name) for name in found["kept"]] == sorted(expected["kept"], key=int)
    assert sorted((str(row[0]), str(row[1]), *row[2:]) for row in found["removed"]) == expected["removed"]


def test_the_second_of_two_updates_fails(spark, tmp_path, monkeypatch):
    folder, pages = str(tmp_path / "collection"), corpus(7, 40)
    publish, met = Store.publish, []

    def late(self, state):
        if not met:
            met.append(True)
            onecopy.spark.update(folder, frame(spark, pages[:20]))
        publish(self, state)

    monkeypatch.setattr(Store, "publish", late)
    with pytest.raises(onecopy.OnecopyError, match="another update has made version 1 meanwhile.*run it again"):
        onecopy.spark.update(folder, frame(spark, pages[20:]))
    names = sorted(path.name for path in (tmp_path / "collection" / "versions").iterdir())
    assert names == ["00000001.json"]
    state = json.loads((tmp_path / "collection" / "versions" / "00000001.json").read_text())
    assert [path.name for path in (tmp_path / "collection" / "tables").iterdir()] == [state["tables"].split("/")[1]]
    with pytest.raises(onecopy.OnecopyError, match="begun with other options"):
        onecopy.spark.update(folder, frame(spark, pages[20:]), threshold=0.5)
    state["layout"] -= 1
    (tmp_path / "collection" / "versions" / "00000001.json").write_text(json.dumps(state))
    with pytest.raises(onecopy.OnecopyError, match="in another layout: begin a new collection"):
        onecopy.spark.update(folder, frame(spark, pages[20:]))
    state["answer_version"] += 1
    (tmp_path / "collection" / "versions" / "00000001.json").write_text(json.dumps(state))
    with pytest.raises(onecopy.OnecopyError, match="begin a new collection"):
        onecopy.spark.update(folder, frame(spark, pages[20:]))
