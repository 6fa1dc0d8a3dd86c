"""Deduplicates files of any format that Spark reads. It is for people who do not write Python.

    spark-submit --master spark://host:7077 $(python -m onecopy.spark --path) crawl/ --out clean/
    python -m onecopy.spark crawl.parquet --out clean
    python -m onecopy.spark new/ --collection pages/ --dead dead.csv
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional, Sequence

# As a file of `spark-submit` this is no part of a package, so all imports are absolute.
import onecopy
from onecopy import _onecopy
from onecopy.spark import dedup, update
from onecopy.spark._dedup import NOT_HERE
from onecopy.spark._write import new_folder

ENDINGS = {"jsonl": "json", "ndjson": "json", "tsv": "csv"}
NOT_AN_OPTION = {"json", "help", "version", "timings"}


def parser() -> argparse.ArgumentParser:
    """The options of this script, and those of `onecopy dedup` that have a meaning on a cluster."""
    made = argparse.ArgumentParser(prog="onecopy.spark", description=__doc__.splitlines()[0])
    made.add_argument("input", nargs="*", help="files or folders, of one format")
    made.add_argument("--out", help="a new folder for kept, removed, groups and rejected")
    made.add_argument("--collection", help="update this collection instead")
    made.add_argument("--dead", help="a file whose first column names dead pages, for --collection")
    made.add_argument("--format", help="parquet, json, csv, orc, text ...; by default by the name, else parquet")
    made.add_argument("--out-format", help="the format of the results; by default that of the input")
    made.add_argument("--plan", help="a plan of onecopy partitions, for --out")
    made.add_argument("--path", action="store_true", help="print the path of this file, for spark-submit")
    about = made.add_argument_group("options of onecopy dedup")
    for name, default, values, takes_value, takes_several in _onecopy.options("dedup"):
        if name.replace("-", "_") in NOT_HERE or name in NOT_AN_OPTION or name == "format":
            continue
        if takes_value:
            about.add_argument(f"--{name}", choices=None if takes_several else values or None, metavar=name.upper())
        else:
            about.add_argument(f"--{name}", action="store_true", default=None)
    return made


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the script."""
    call = parser().parse_args(arguments)
    if call.path:
        print(__file__)
        return 0
    try:
        print(json.dumps(run(call)))
    except onecopy.OnecopyError as error:
        print(f"onecopy: {error}", file=sys.stderr)
        return 1
    return 0


def run(call: argparse.Namespace) -> dict[str, Any]:
    """Reads, deduplicates and writes. Returns the numbers."""
    from pyspark.sql import SparkSession

    if not call.input or (call.out is None) == (call.collection is None):
        raise onecopy.OnecopyError("give input, and either --out for results or --collection to update")
    own = {"input", "out", "collection", "dead", "format", "out_format", "path"}
    options = {name: value for name, value in vars(call).items() if name not in own and value is not None}
    spark = SparkSession.builder.appName("onecopy").getOrCreate()
    df = read(spark, call.input, call.format)
    if call.collection is not None:
        if options.pop("plan", None) is not None:
            raise onecopy.OnecopyError("--plan has no meaning with --collection: leave it out")
        dead = None if call.dead is None else read(spark, [call.dead], None)
        made = update(call.collection, df, dead=dead, **options)
        return {"version": made.version, "pages": made.pages.count(), "changed": made.feed.count()}
    return write(spark, df, call, options)


def read(spark: Any, paths: Sequence[str], form: Optional[str]) -> Any:
    """A data frame of files."""
    form = form or form_of(paths[0])
    reader = spark.read.format(form)
    if form == "csv":
        reader = reader.option("header", True).option("multiLine", True).option("escape", '"')
    return reader.load(list(paths))


def form_of(path: str) -> str:
    """The format that the name of a file tells: Spark's name for it."""
    parts = [part for part in path.rstrip("/").lower().split(".") if part not in ("gz", "bz2", "zst", "zstd")]
    ending = parts[-1] if len(parts) > 1 and "/" not in parts[-1] else "parquet"
    return ENDINGS.get(ending, ending)


def write(spark: Any, df: Any, call: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """Writes all results into a new folder, which must not exist."""
    new_folder(spark, call.out)
    found = dedup(df, **options)
    found.write(call.out, call.out_format or call.format or form_of(call.input[0]))
    return found.report


if __name__ == "__main__":
    sys.exit(main())
