"""text-dedup's own program, with its fastest hash; the words are given to it joined by spaces.

It splits at every character that is not a word's, which makes empty words; joined text has none.
"""

import os
import subprocess
import sys
import tempfile

import orjson
from datasets import load_from_disk

import pages

args = pages.arguments()
with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(args.kept))) as folder:
    source, output = os.path.join(folder, "words.jsonl"), os.path.join(folder, "output")
    with open(source, "wb") as file:
        for batch in pages.batches(args.inputs):
            for _, page in batch:
                file.write(orjson.dumps({"id": page["id"], "words": " ".join(pages.words(page["text"]))}) + b"\n")
    options = {
        "path": "json",
        "data_files": source,
        "split": "train",
        "cache_dir": os.path.join(folder, "cache"),
        "output": output,
        "column": "words",
        "ngram": pages.SHINGLE,
        "min_length": 1,
        "num_perm": pages.HASHES,
        "threshold": args.threshold,
        "hash_func": "xxh3",
        "hash_bits": 32,
    }
    command = [sys.executable, "-m", "text_dedup.minhash"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    subprocess.run(command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    kept = set(load_from_disk(output)["id"])
pages.deduplicate(args, lambda batch: (page["id"] in kept for page in batch))
