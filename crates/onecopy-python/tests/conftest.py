"""Pages that tests share."""

import json
import random

import pytest

WORDS = [f"{a}{b}{c}" for a in "bdfglm" for b in "aeiou" for c in "nrst"]


def texts(seed, count):
    """Texts of which many are near copies of others."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        words = [chance.choice(WORDS) for _ in range(60)]
        if made and chance.random() < 0.5:
            words = chance.choice(made).split()
            words[chance.randrange(len(words))] = chance.choice(WORDS)
        made.append(" ".join(words))
    return made


@pytest.fixture
def pages():
    """Pages with all fields that a winner is chosen by."""
    found = []
    for number, text in enumerate(texts(7, 120)):
        page = {"id": f"p{number}", "text": text, "url": f"http://a.example/{number % 40}", "clicks": number % 7}
        date = f"2024-01-{number % 28 + 1:02}"
        found.append({**page, "date": date, "redirect": None, "extra": [number]})
    found[5]["text"] = None
    found[9]["text"] = "!?"
    found[11]["redirect"] = "http://a.example/3"
    return found


@pytest.fixture
def program(tmp_path):
    """Runs the program over pages in a file, and returns its lists."""

    def run(pages, *options):
        import subprocess
        import sys

        given, out = tmp_path / "given.jsonl", tmp_path / "out"
        given.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
        call = [sys.executable, "-m", "onecopy", "dedup", str(given), "--out", str(out), "--quiet", "--overwrite"]
        subprocess.run([*call, *options], check=True)
        read = lambda name: [json.loads(line) for line in (out / f"{name}.jsonl").read_text().splitlines()]
        return {name: read(name) for name in ("removed", "groups", "rejected", "pages")}

    return run


@pytest.fixture(scope="session")
def cluster():
    """A Spark cluster of two workers on this machine."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    import shutil

    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from spark_cluster import Cluster

    with Cluster() as made:
        yield made


@pytest.fixture
def spark(cluster):
    """A session on the cluster."""
    return cluster.spark()


@pytest.fixture(autouse=True)
def names_of_the_guide(request, doctest_namespace):
    """The guide for Spark has a session, as the shell of Spark does."""
    if request.node.name == "spark.md":
        doctest_namespace["spark"] = request.getfixturevalue("spark")
