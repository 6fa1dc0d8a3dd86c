"""Machines, hours and dollars for 100 million to 10 billion pages, from measured runs of Spark.

    for size in 10k 100k 1m; do python measure.py $size.parquet > $size.json; done
    python model.py 10k.json 100k.json 1m.json --cores 16 --price 0.80 --hours 6

The growth from the smallest run to the largest is the cost of a page, without the start of programs. With thousands of
tasks more bytes are shuffled than were measured: there are no outlines, hardly two similar pages are in one task, and each
key sends its node. The model takes the most: all sketches that share a key go whole. It is linear.
"""

import argparse
import json
import math

SIZES = [1e8, 3e8, 1e9, 3e9, 1e10]
# What a cluster of many machines does not use of its cores: stragglers, waiting for the network, lost tasks.
BUSY = 0.7
# The most bytes that a page of bench-100k shuffles: 75 keys of 17 bytes, and its sketch if it shares a key.
MOST_SHUFFLED = 75 * 17 + 3_660


def rates(runs):
    """CPU seconds and shuffled bytes of a page, from runs of several sizes."""
    small, *_, large = sorted(runs, key=lambda run: run["pages"])
    more = large["pages"] - small["pages"]
    seconds = lambda run: sum(run["written"][kind] for kind in ("java", "python"))
    return {
        "cpu_seconds": (seconds(large) - seconds(small)) / more,
        "shuffled_bytes": large["shuffled"] / large["pages"],
    }


def line(pages, rate, call):
    """What so many pages need."""
    shuffled = max(rate["shuffled_bytes"], MOST_SHUFFLED)
    core_hours = pages * rate["cpu_seconds"] / 3600 / BUSY
    network_hours = pages * shuffled * 8 / (call.gigabits * 1e9) / 3600 / BUSY
    disk = pages * (call.sketch_bytes + 2 * shuffled)
    machines = max((core_hours / call.cores + network_hours) / call.hours, disk / (call.disk * 1e12), 2)
    machines = math.ceil(machines)
    hours = (core_hours / call.cores + network_hours) / machines
    return {
        "pages": f"{pages:,.0f}",
        "machines": machines,
        "hours": round(hours, 1),
        "dollars": round(machines * hours * call.price),
        "shuffled TB": f"{pages * rate['shuffled_bytes'] / 1e12:.1f} to {pages * shuffled / 1e12:.1f}",
        "disk TB": round(disk / 1e12, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", help="results of measure.py, of at least two sizes")
    parser.add_argument("--cores", type=int, default=16, help="cores of a machine")
    parser.add_argument("--price", type=float, default=0.80, help="dollars for a machine and hour")
    parser.add_argument("--hours", type=float, default=6, help="hours that a run may take")
    parser.add_argument("--gigabits", type=float, default=5, help="bits per second of a machine's network, in billions")
    parser.add_argument("--disk", type=float, default=1, help="terabytes of a machine's disks")
    parser.add_argument("--sketch-bytes", type=float, default=5_800, help="stored bytes of a page's sketch")
    call = parser.parse_args()
    rate = rates([json.load(open(path)) for path in call.runs])
    print(json.dumps({name: round(value, 7) for name, value in rate.items()}))
    lines = [line(pages, rate, call) for pages in SIZES]
    print("| " + " | ".join(lines[0]) + " |\n|" + " ---: |" * len(lines[0]))
    for row in lines:
        print("| " + " | ".join(f"{value:,}" if isinstance(value, (int, float)) else value for value in row.values()) + " |")


if __name__ == "__main__":
    main()
