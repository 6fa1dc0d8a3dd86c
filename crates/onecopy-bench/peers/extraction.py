"""What every extraction peer does alike: reads the pages, writes the texts, counts the CPU time of extraction alone.

A peer's own script holds only what is its own. Reading JSON is nobody's result, so it is not counted.
"""

import argparse
import json
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--out", required=True)
    parser.add_argument("--setting", default="")
    return parser.parse_args()


def extract_all(args, extract):
    """Writes {"id", "text"} a page to `--out`; its last line is {"cpu_seconds", "failed"}."""
    spent, failed = 0.0, 0
    with open(args.input, "rb") as pages, open(args.out, "w", encoding="utf-8") as out:
        for line in pages:
            page = json.loads(line)
            text, html = "", page["html"]
            started = time.process_time()
            try:
                text = extract(html) or ""
            except Exception:  # a page that a peer cannot read is an empty text, as for its users
                failed += 1
            spent += time.process_time() - started
            out.write(json.dumps({"id": page["id"], "text": text}) + "\n")
        out.write(json.dumps({"cpu_seconds": spent, "failed": failed}) + "\n")
