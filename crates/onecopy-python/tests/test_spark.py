"""Spark gives the answer of one machine, page by page."""

import os
import sys

import pytest

pyspark = pytest.importorskip("pyspark")

import onecopy
import onecopy.spark
from spark_pages import check, corpus, one_machine

SCHEMA = "id string, text string, url string, clicks long, date string, redirect string, canonical string"


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("ERROR")
    yield made
    made.stop()


def frame(spark, pages, partitions=3):
    return spark.createDataFrame([tuple(page.values()) for page in pages], SCHEMA).repartition(partitions)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_answer_is_that_of_one_machine(spark, seed):
    pages = corpus(seed, 300)
    expected = one_machine(pages)
    assert len(expected["removed"]) > 60 and len(expected["rejected"]) > 3
    assert {row[3] for row in expected["removed"]} == {"exact", "near", "url", "redirect"}
    found = onecopy.spark.dedup(frame(spark, pages))
    check(found, expected)
    assert found.report["kept"] == len(expected["kept"]) and found.report["groups"] == len(expected["groups"])


def test_sets_too_large_for_a_task_are_divided(spark):
    pages = corpus(4, 160)
    for page in pages[::2]:
        # One set of half of the pages: chains of near copies.
        page["text"] = " ".join(page["text"].split()[:9]) if page["text"] and "<" not in page["text"] else page["text"]
    options = {"threshold": 0.5, "shingle": 2, "market": ["uk"]}
    found = onecopy.spark.dedup(frame(spark, pages), tuning=onecopy.spark.Tuning(task_words=600, edges_in_a_task=10), **options)
    check(found, one_machine(pages, **options))
