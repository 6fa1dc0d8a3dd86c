"""Plain Parquet files are read by the executors themselves, and the answer is the same."""

import glob
import os
import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

import pyarrow
import pyarrow.parquet
import onecopy
import onecopy.spark
from onecopy.spark import _aside, _dedup, _plain, _write
from pyspark.sql import functions as F
from spark_pages import check, corpus, one_machine, rows

SCHEMA = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "text", "url", "date", "redirect", "canonical")])
SCHEMA = SCHEMA.insert(3, pyarrow.field("clicks", pyarrow.int64()))


def files(folder, pages, count=3, schema=SCHEMA, **options):
    """Pages in Parquet files of small row groups."""
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        table = pyarrow.Table.from_pylist(pages[number::count], schema)
        pyarrow.parquet.write_table(table, f"{folder}/{number} of {count}.parquet", row_group_size=20, **options)
    return str(folder)


def unlinked(pages):
    """Pages without redirects and canonical links: nothing but comparing decides."""
    plain = [{**page, "redirect": None, "canonical": None} for page in pages]
    return [page for page in plain if "canonical" not in (page["text"] or "")]


@pytest.fixture
def kinds(monkeypatch):
    """The kinds of pages that runs had."""
    seen, pages = [], _dedup.pages

    def watched(*given):
        found = pages(*given)
        seen.append(type(found).__name__)
        return found

    monkeypatch.setattr(_dedup, "pages", watched)
    return seen


def left_aside(cluster):
    return glob.glob(f"{cluster.folder}/**/onecopy-*.arrow", recursive=True)


def test_files_give_the_answer_of_one_machine(spark, cluster, kinds, tmp_path, monkeypatch):
    monkeypatch.setattr(_plain, "BYTES_IN_A_TASK", 5_000)
    for number, pages in enumerate((corpus(21, 150), unlinked(corpus(22, 200)))):
        df, expected = spark.read.parquet(files(tmp_path / str(number), pages)), one_machine(pages)
        assert len(_plain.spans_of(df)[0]) > 4 and len(expected["removed"]) > 20 and expected["rejected"]
        check(onecopy.spark.dedup(df), expected)
        # A condition that is always true makes it more than files.
        check(onecopy.spark.dedup(df.where("id <> ''")), expected)
    assert kinds == ["FilePages", "Pages"] * 2


def test_facts_that_are_lost_are_made_again(spark, cluster, kinds, tmp_path, monkeypatch):
    pages, bins, lost = unlinked(corpus(23, 120)), _dedup._candidates.bins, []

    def lose(*given):
        lost.extend(left_aside(cluster))
        for path in lost:
            os.remove(path)
        return bins(*given)

    monkeypatch.setattr(_dedup._candidates, "bins", lose)
    check(onecopy.spark.dedup(spark.read.parquet(files(tmp_path / "pages", pages))), one_machine(pages))
    assert lost and kinds == ["FilePages"]


def test_a_killed_worker_changes_nothing(cluster, spark, kinds, tmp_path, monkeypatch):
    pages, bins, killed = unlinked(corpus(24, 120)), _dedup._candidates.bins, []

    def kill_first(*given):
        if not killed:
            killed.append(cluster.kill_worker())
        return bins(*given)

    monkeypatch.setattr(_dedup._candidates, "bins", kill_first)
    found = onecopy.spark.dedup(spark.read.parquet(files(tmp_path / "pages", pages)))
    check(found, one_machine(pages))
    assert killed and kinds == ["FilePages"]
    cluster.add_worker()


def test_what_spark_reads_in_another_way_is_left_to_spark(spark, tmp_path):
    pages = corpus(25, 60)
    df = spark.read.parquet(files(tmp_path / "pages", pages))
    assert _plain.paths_of(df) and _plain.paths_of(df.select("text", "id")) and _plain.paths_of(df.alias("x").drop("url"))
    for other in (df.where("clicks > 1"), df.limit(5), df.withColumnRenamed("id", "name"), df.union(df), df.distinct()):
        assert _plain.paths_of(other) is None
    assert _plain.paths_of(df.withColumn("text", F.lower("text"))) is None
    assert _plain.paths_of(spark.createDataFrame([(1, "a")], "id long, text string")) is None
    df.repartition(2).write.partitionBy("clicks").parquet(str(tmp_path / "parted"))
    parted = spark.read.parquet(str(tmp_path / "parted"))
    assert _plain.paths_of(parted) is None and _plain.spans_of(parted.select("id", "text")) is not None
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    assert _plain.paths_of(df) is None
    spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_columns_of_other_types_are_left_to_spark(tmp_path):
    text = pyarrow.array(["a", "b"])
    forms = {"plain": text, "large": text.cast(pyarrow.large_string()), "coded": text.dictionary_encode()}
    wanted = pyarrow.schema([("text", pyarrow.string())])
    for name, column in {**forms, "bytes": text.cast(pyarrow.binary()), "whole": pyarrow.array([1, 2])}.items():
        path = f"file://{tmp_path}/{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"text": column}), path.removeprefix("file://"))
        assert (_aside.groups_in(path, wanted) is not None) == (name in forms), name
    assert _aside.groups_in(path, pyarrow.schema([("absent", pyarrow.string())])) is None
    assert _aside.groups_in(f"file://{tmp_path}/none.parquet", wanted) is None
    for kind in (pyarrow.uint32(), pyarrow.timestamp("ns")):
        pyarrow.parquet.write_table(pyarrow.table({"n": pyarrow.array([1], kind)}), tmp_path / "n.parquet")
        spark_sees = pyarrow.schema([("n", pyarrow.int64() if kind == pyarrow.uint32() else pyarrow.timestamp("us", "UTC"))])
        assert _aside.groups_in(f"file://{tmp_path}/n.parquet", spark_sees) is None


def test_row_groups_are_dealt_to_tasks_once():
    files = [("a", [5, 5, 90]), ("b", [1]), ("c", []), ("d", [30, 30])]
    for tasks in (1, 2, 3, 7, 50):
        shares = _plain.dealt(files, 161, tasks)
        dealt = [(span.path, number) for share in shares for span in share for number in range(span.first, span.end)]
        assert dealt == [(path, number) for path, groups in files for number in range(len(groups))]
        assert all(shares) and len(shares) <= tasks


def test_files_put_aside_are_deleted(tmp_path, monkeypatch):
    folder = tmp_path / "aside"
    folder.mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(folder))
    pages = [{"id": "a", "text": "one two three"}, {"id": "b", "text": None}]
    path, plan = files(tmp_path / "pages", pages, 1), _dedup.plan_of(_dedup.complete({}))
    span = (f"file://{path}/0 of 1.parquet".replace(" ", "%20"), 0, 1)
    aside = _aside.Aside("run", plan, ["id"], pyarrow.string(), ["id", "text"], [[span]])
    assert [batch["page"].to_pylist() for batch in aside.batches(0) if len(batch)] == [["a", "b"]]
    assert [table["page"].to_pylist() for table in aside.tables(0, ["page"], 1) if len(table)] == [["a"]]
    assert os.listdir(folder) == ["onecopy-run-0.arrow"]
    aside.remove()
    assert not os.listdir(folder)
    # A file that is deleted at any time is made again.
    mapped = pyarrow.memory_map
    lost = [aside.path(0)]
    monkeypatch.setattr(pyarrow, "memory_map", lambda path: (lost and os.path.exists(path) and os.remove(lost.pop())) or mapped(path))
    aside.put(0)
    assert [batch["page"].to_pylist() for batch in aside.batches(0) if len(batch)] == [["a", "b"]] and not lost


def test_columns_are_made_without_pandas():
    lines = [
        "import sys, pyarrow",
        "from onecopy.spark._arrow import blobs, numbers, table, whole",
        "assert numbers(whole([1, 2, 3], 'int32')[1:]).tolist() == [2, 3]",
        "assert blobs([b'a', b'']).to_pylist() == [b'a', b''] and not len(numbers(whole([], 'int64')))",
        "assert table(pyarrow.table({'a': whole([1], 'int64')})).num_rows == 1",
        "assert 'pandas' not in sys.modules",
    ]
    subprocess.run([sys.executable, "-c", "; ".join(lines)], check=True)


def test_bad_rows_of_files_are_refused(spark, tmp_path):
    def refusal(name, *pages):
        df = spark.read.parquet(files(tmp_path / name, [dict(zip(("id", "text"), page)) for page in pages], 1))
        with pytest.raises(onecopy.OnecopyError) as raised:
            onecopy.spark.dedup(df)
        return str(raised.value)

    assert "2 rows have the same `id`: 'a'" in refusal("twice", ("a", "one two"), ("b", "x"), ("a", "three"))
    assert "2 rows have the same `id`: 'a'" in refusal("rejected", ("a", "one two"), ("b", "x"), ("a", None))
    assert "1 of 2 rows have no `id`" in refusal("nameless", ("a", "x y"), (None, "z"))
    assert "none of the 2 rows could be judged" in refusal("silent", ("a", None), ("b", "!"))
    assert "no rows" in refusal("empty")


def test_kept_rows_are_copied(spark, tmp_path, monkeypatch):
    pages = unlinked(corpus(26, 150))
    whole = spark.read.parquet(files(tmp_path / "pages", pages, coerce_timestamps="us"))
    expected, df = one_machine(pages), whole.select("clicks", "text", "id")
    copied, copy_kept = [], _write.copy_kept
    monkeypatch.setattr(_write, "copy_kept", lambda *given: copied.append(copy_kept(*given)) or copied[-1])
    for name, frame in (("files", whole), ("some", df), ("rows", df.where("id <> ''"))):
        found = onecopy.spark.dedup(frame)
        found.write(str(tmp_path / name))
        kept = spark.read.parquet(str(tmp_path / name / "kept"))
        assert kept.schema == frame.schema
        assert sorted(map(str, rows(kept))) == sorted(map(str, rows(found.kept)))
        assert sorted(os.listdir(tmp_path / name)) == ["groups", "kept", "rejected", "removed"]
    assert copied == [True, True, False] and len(expected["kept"]) == kept.count()
    with pytest.raises(onecopy.OnecopyError, match="choose a new folder"):
        found.write(str(tmp_path / "rows"))


def test_a_collection_takes_files(spark, cluster, tmp_path):
    pages, folder = unlinked(corpus(28, 160)), str(tmp_path / "collection")
    read = lambda name, some: spark.read.parquet(files(tmp_path / name, some, 2))
    changed = [{**page, "text": pages[number + 40]["text"]} for number, page in enumerate(pages[:8])]
    onecopy.spark.update(folder, read("begin", pages[:120]))
    made = onecopy.spark.update(folder, read("more", pages[120:] + changed))
    expected = one_machine(changed + pages[8:])
    found = {row["page"]: (row["status"], row["winner"]) for row in made.pages.collect()}
    assert {page for page, (status, _) in found.items() if status == "kept"} == set(expected["kept"])
    assert {(page, winner) for page, (status, winner) in found.items() if status == "removed"} == {row[:2] for row in expected["removed"]}
    # Links from all pages to any other: the long way.
    linked = [{**page, "redirect": pages[2]["url"]} for page in pages[20:24]]
    made = onecopy.spark.update(folder, read("linked", linked))
    expected = one_machine(changed + pages[8:20] + linked + pages[24:])
    assert {row["page"] for row in made.pages.where("status = 'kept'").collect()} == set(expected["kept"])


def test_nothing_half_written_is_left(spark, tmp_path, monkeypatch):
    found = onecopy.spark.dedup(spark.read.parquet(files(tmp_path / "pages", unlinked(corpus(27, 60)))))
    for path in glob.glob(f"{tmp_path}/pages/1*.parquet"):
        os.remove(path)
    with pytest.raises(Exception):
        found.write(str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["pages"]


def test_the_second_of_two_writes_fails(spark, tmp_path, monkeypatch):
    found = onecopy.spark.dedup(spark.read.parquet(files(tmp_path / "pages", unlinked(corpus(29, 60)))))
    write_parquet, met = _write.write_parquet, []

    def late(*given):
        if not met:
            met.append(True)
            found.write(str(tmp_path / "out"))
        return write_parquet(*given)

    monkeypatch.setattr(_write, "write_parquet", late)
    with pytest.raises(onecopy.OnecopyError, match="choose a new folder"):
        found.write(str(tmp_path / "out"))
    assert sorted(os.listdir(tmp_path)) == ["out", "pages"]
    assert sorted(os.listdir(tmp_path / "out")) == ["groups", "kept", "rejected", "removed"]
    assert spark.read.parquet(str(tmp_path / "out" / "kept")).count() == found.report["kept"]
