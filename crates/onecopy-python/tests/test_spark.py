"""Spark gives the answer of one machine, page by page, on a cluster of two workers."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

import onecopy
import onecopy.spark
from onecopy.spark import Tuning, _candidates, _dedup, _large
from spark_pages import check, corpus, frame, one_machine


def test_the_answer_is_that_of_one_machine(spark):
    pages = corpus(1, 300)
    expected = one_machine(pages)
    assert len(expected["removed"]) > 60 and len(expected["rejected"]) > 3
    assert {row[3] for row in expected["removed"]} == {"exact", "near", "url", "redirect"}
    found = onecopy.spark.dedup(frame(spark, pages))
    check(found, expected)
    assert found.report["kept"] == len(expected["kept"]) and found.report["groups"] == len(expected["groups"])
    assert repr(found).startswith("<onecopy.spark.Deduplicated: ")


def test_numbers_name_pages_and_other_methods_count(spark):
    pages = [{"id": number, "text": page["text"]} for number, page in enumerate(corpus(2, 120))]
    rows = [(page["id"], page["text"]) for page in pages]
    found = onecopy.spark.dedup(spark.createDataFrame(rows, "id long, text string"), method="jaccard", threshold=0.7)
    expected = onecopy.dedup(pages, method="jaccard", threshold=0.7, quiet=True)
    removed = {str(row["page"]): str(row["winner"]) for row in found.removed.collect()}
    assert removed == {row["page"]: row["winner"] for row in expected.removed} and len(removed) > 20
    assert sorted(row["id"] for row in found.kept.collect()) == sorted(page["id"] for page in expected.kept)


def test_sets_too_large_for_a_task_are_divided(spark, monkeypatch):
    numbered, in_rounds, met = _large.numbered, _candidates.in_rounds, {"rounds": 0}

    def count_blocks(*given):
        contents, met["blocks"] = numbered(*given)
        return contents, met["blocks"]

    def count_rounds(pairs):
        met["rounds"] += 1
        return in_rounds(pairs)

    monkeypatch.setattr(_large, "numbered", count_blocks)
    monkeypatch.setattr(_candidates, "in_rounds", count_rounds)
    pages = corpus(4, 90)
    options = {"threshold": 0.5, "shingle": 2, "market": ["uk"]}
    tuning = Tuning(task_words=2_500, edges_in_a_task=10)
    found = onecopy.spark.dedup(frame(spark, pages), tuning=tuning, **options)
    check(found, one_machine(pages, **options))
    assert met["blocks"] > 2 and met["rounds"] > 1, met


def test_a_saved_plan_places_sets_and_changes_no_answer(spark, tmp_path, monkeypatch):
    pages, placed = corpus(10, 150), []
    planned = _dedup.planned

    def keep_bins(*given):
        placed.append(planned(*given))
        return placed[0]

    monkeypatch.setattr(_dedup, "planned", keep_bins)
    given, plan = tmp_path / "pages.jsonl", tmp_path / "plan.json"
    given.write_text("".join(json.dumps(page) + "\n" for page in pages if page["text"]), encoding="utf-8")
    call = [sys.executable, "-m", "onecopy", "partitions", "plan", str(given), "--machines", "5", "--save", str(plan)]
    subprocess.run(call, check=True, capture_output=True)
    # Few bins at once would take many rounds, so sketches move by way of their nodes.
    tuning = Tuning(bins_at_once=10)
    check(onecopy.spark.dedup(frame(spark, pages), plan=plan, tuning=tuning), one_machine(pages))
    assert 2 < placed[0].select("bin").distinct().count() <= 5
    given.write_text("{}")
    with pytest.raises(onecopy.OnecopyError, match="not a plan of a partitioning"):
        onecopy.spark.dedup(frame(spark, pages), plan=given)


def test_a_killed_worker_changes_nothing(cluster, spark, monkeypatch):
    pages = corpus(5, 200)
    bins, killed = _dedup._candidates.bins, []

    def kill_first(*given):
        if not killed:
            killed.append(cluster.kill_worker())
        return bins(*given)

    monkeypatch.setattr(_dedup._candidates, "bins", kill_first)
    found = onecopy.spark.dedup(frame(spark, pages))
    assert killed and len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) == 2, "the driver and one"
    check(found, one_machine(pages))
    cluster.add_worker()
