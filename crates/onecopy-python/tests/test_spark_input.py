"""Frames that make no pages are refused with a clear sentence, and the script reads and writes files."""

import json
import os
import subprocess
import sys

import pytest

pyspark = pytest.importorskip("pyspark")

import onecopy
import onecopy.spark
from onecopy.spark import __main__ as script
from spark_cluster import SETTINGS
from spark_pages import corpus, frame, one_machine


def refusal(df, **options):
    with pytest.raises(onecopy.OnecopyError) as raised:
        onecopy.spark.dedup(df, **options)
    return str(raised.value)


def test_columns_that_make_no_page_are_refused(spark):
    bare = spark.createDataFrame([(1, "a")], "id long, words string")
    assert "none of the columns `text`" in refusal(bare)
    assert "no column `body`" in refusal(bare, text_field="body")
    assert "`text` is not a column of text" in refusal(spark.createDataFrame([(1, 2)], "id long, text long"))
    assert "no column names the pages" in refusal(spark.createDataFrame([("a",)], "text string"))
    assert "neither text nor whole" in refusal(spark.createDataFrame([(1.5, "a")], "n double, text string"), id_field="n")
    assert "no meaning on a cluster" in refusal(bare, memory="1G")
    assert "choose another method" in refusal(bare, method="lcs")
    with pytest.raises(TypeError, match="unexpected option 'thresold'"):
        onecopy.spark.dedup(bare, thresold=0.9)


def test_rows_that_make_no_page_are_refused(spark):
    pages = spark.createDataFrame([], "id string, text string")
    assert "no rows" in refusal(pages)
    assert "1 of 2 rows have no `id`" in refusal(spark.createDataFrame([("a", "x y"), (None, "z")], "id string, text string"))
    twice = spark.createDataFrame([("a", "one two"), ("b", "x"), ("a", "three")], "id string, text string")
    assert "2 rows have the same `id`: 'a'" in refusal(twice)
    rejected = spark.createDataFrame([("a", "one two"), ("b", "x"), ("a", None)], "id string, text string")
    assert "2 rows have the same `id`: 'a'" in refusal(rejected)
    silent = spark.createDataFrame([("a", None), ("b", "!")], "id string, text string")
    assert "none of the 2 rows could be judged" in refusal(silent)


def test_a_worker_with_another_version_is_refused(spark, monkeypatch):
    own = onecopy.__version__
    monkeypatch.setattr(onecopy, "__version__", "9.9.9")
    said = refusal(spark.createDataFrame([("a", "one two")], "id string, text string"))
    assert said == f"a worker has onecopy {own}, and the driver has 9.9.9: install the same version on all machines"


def test_the_script_reads_and_writes_files(spark, tmp_path, capsys):
    pages = corpus(8, 60)
    frame(spark, pages).write.json(str(tmp_path / "pages.json"))
    call = [str(tmp_path / "pages.json"), "--out", str(tmp_path / "out"), "--threshold", "0.7"]
    assert script.main(call) == 0
    report, expected = json.loads(capsys.readouterr().out), one_machine(pages, threshold=0.7)
    assert report["removed"] == len(expected["removed"])
    removed = spark.read.json(str(tmp_path / "out" / "removed"))
    assert sorted(row["page"] for row in removed.collect()) == [row[0] for row in expected["removed"]]
    assert script.main(call) == 1
    assert "choose a new folder" in capsys.readouterr().err
    kept = [str(tmp_path / "out" / "kept"), "--format", "json", "--collection", str(tmp_path / "collection")]
    assert script.main(kept) == 0
    assert json.loads(capsys.readouterr().out)["version"] == 1


def test_spark_submit_runs_the_script(tmp_path):
    run = lambda *call: subprocess.run(call, capture_output=True, text=True, timeout=120)
    path = run(sys.executable, "-m", "onecopy.spark", "--path").stdout.strip()
    assert "--threshold" in run(sys.executable, path, "--help").stdout
    assert run(sys.executable, path).returncode == 1
    lines = [{"id": name, "text": "one two three four five six seven"} for name in ("a", "b")]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    submit = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-submit")
    settings = [f"--conf={name}={value}" for name, value in SETTINGS.items() if not name.startswith("spark.executor")]
    call = [*settings, "--master", "local[1]", path, str(tmp_path / "pages.jsonl"), "--out", str(tmp_path / "out")]
    done = run(submit, *call)
    assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["removed"] == 1, done.stderr[-2000:]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "pages.jsonl"]
    assert script.form_of("a/b.jsonl.gz") == "json" and script.form_of("s3://x/crawl.d/a") == "parquet"
