"""Measures `onecopy.spark` on a cluster of two executors with one core and 1 GB each, on this machine.

    python measure.py pages.parquet                 a whole run, and writing the rows that stay
    python measure.py pages.parquet --update 0.01   a collection of all pages but 1 %, then an update with these
    python measure.py pages.parquet --stages        also each stage of Spark

The pages need columns `id` and `text`. Prints JSON: CPU seconds of the executors (Java with garbage collection and
compilation, and Python) and of the driver, those to start them, and the bytes that were shuffled. It needs pyspark,
Java and onecopy.
"""

import argparse
import glob
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../onecopy-python/tests"))
import spark_cluster

# The options of Java in executors.
JAVA = os.environ.get("ONECOPY_SPARK_JAVA", "-XX:TieredStopAtLevel=1")
TICKS = os.sysconf("SC_CLK_TCK")
# The tests switch off what only long runs need.
FOR_TESTS = ("spark.sql.codegen", "Java", "spark.sql.shuffle.partitions", "spark.default.parallelism")


def settings(log):
    kept = {name: value for name, value in spark_cluster.SETTINGS.items() if not any(part in name for part in FOR_TESTS)}
    return {
        **kept,
        "spark.executor.memory": "1g",
        # Java's second compiler costs more than its code saves: the hot loops copy bytes.
        "spark.executor.extraJavaOptions": JAVA,
        # Keys and sketches are random numbers, which no codec makes much smaller. This one costs least.
        "spark.io.compression.codec": "snappy",
        "spark.broadcast.compress": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{log}",
    }


def processes(cluster):
    """The executors, the Python processes that they started, and the driver's Java: what each is, and its numbers."""
    sessions = {worker.pid for worker in cluster.workers}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as stat, open(f"/proc/{process}/cmdline") as line:
                fields, call = stat.read().rpartition(")")[2].split(), line.read()
        except OSError:
            continue
        kind = "java" if "CoarseGrained" in call else "python" if "python" in call.split("\0")[0] else None
        if "pyspark-shell" in call and int(fields[1]) == os.getpid():
            yield "driver", process, fields
        if kind and (int(fields[3]) in sessions or int(fields[2]) in sessions):
            yield kind, process, fields


def cpu(cluster):
    """CPU seconds of the executors, of the Python processes that they started, and of the driver's Java and Python."""
    used = {"java": 0.0, "python": 0.0, "driver": 0.0, "driver_python": time.process_time()}
    for kind, _, fields in processes(cluster):
        used[kind] += sum(map(int, fields[11:15])) / TICKS
    return used


def memory(cluster):
    """The most megabytes that an executor, a Python process of it, and the driver's Java had."""
    most = {"java": 0, "python": 0, "driver": 0}
    for kind, process, _ in processes(cluster):
        with open(f"/proc/{process}/status") as status:
            peak = next((int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM")), 0)
        most[kind] = max(most[kind], peak)
    return most


def grown(cluster, before):
    """The CPU seconds since then."""
    return {kind: round(seconds - before[kind], 2) for kind, seconds in cpu(cluster).items()}


def tasks(log):
    """The bytes that were shuffled, and the tasks and CPU seconds of each stage, from the log of events."""
    stages = {}
    for path in glob.glob(f"{log}/**/*", recursive=True):
        for line in open(path, errors="ignore") if os.path.isfile(path) and "status" not in path else ():
            event = json.loads(line) if line.startswith('{"Event":"SparkListenerTaskEnd"') else {}
            if numbers := event.get("Task Metrics"):
                stage = stages.setdefault(event["Stage ID"], {"tasks": 0, "cpu": 0.0, "shuffled": 0})
                stage["tasks"] += 1
                stage["cpu"] += numbers["Executor CPU Time"] / 1e9
                stage["shuffled"] += numbers["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return stages


def read(spark, path):
    frame = spark.read
    return frame.schema("id string, url string, text string").json(path) if "json" in path else frame.parquet(path)


def whole(cluster, df, folder):
    import onecopy.spark

    before = cpu(cluster)
    found = onecopy.spark.dedup(df)
    decided = grown(cluster, before)
    found.write(f"{folder}/out")
    written = grown(cluster, before)
    return {"decide": decided, "written": written, "memory": memory(cluster), "report": found.report}


def updated(cluster, df, folder, share):
    import onecopy.spark
    from pyspark.sql import functions as F

    mark = F.pmod(F.xxhash64("id"), F.lit(1_000_000)) < int(share * 1_000_000)
    df.where(~mark).write.parquet(f"{folder}/begin")
    df.where(mark).write.parquet(f"{folder}/update")
    result = {}
    for name in ("begin", "update"):
        pages, before = df.sparkSession.read.parquet(f"{folder}/{name}"), cpu(cluster)
        made = onecopy.spark.update(f"{folder}/collection", pages)
        result[name] = {**grown(cluster, before), "changed": made.feed.count()}
    return {**result, "memory": memory(cluster)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages")
    parser.add_argument("--update", type=float, metavar="SHARE")
    parser.add_argument("--stages", action="store_true")
    call = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="onecopy-measure-") as folder:
        log = os.path.join(folder, "log")
        os.mkdir(log)
        spark_cluster.SETTINGS = settings(log)
        with spark_cluster.Cluster() as cluster:
            spark = cluster.spark()
            df = read(spark, os.path.abspath(call.pages))
            result = {"pages": df.count(), "start": cpu(cluster)}
            result |= updated(cluster, df, folder, call.update) if call.update else whole(cluster, df, folder)
        stages = tasks(log)
        result["shuffled"] = sum(stage["shuffled"] for stage in stages.values())
        result["shuffled per page"] = round(result["shuffled"] / result["pages"])
        if call.stages:
            result["stages"] = {number: stage for number, stage in sorted(stages.items()) if stage["cpu"] > 0.1}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
