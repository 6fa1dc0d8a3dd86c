"""What every Python peer does alike: reads the pages, splits them into words, writes the answer.

A peer's own script holds only what is its own. Words are those of the benchmark's token rule.
"""

import argparse
import re
from itertools import islice

import orjson

SHINGLE = 5
HASHES = 128
WORDS = re.compile(r"\w+")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--kept", required=True)
    parser.add_argument("--removed", required=True)
    parser.add_argument("--threshold", type=float, default=0.8)
    return parser.parse_args()


def words(text):
    return WORDS.findall(text.lower())


def shingles(text):
    """The 5-word shingles of a text as strings; a shorter text is one shingle."""
    w = words(text)
    if len(w) < SHINGLE:
        return [" ".join(w)]
    return list(map(" ".join, zip(w, w[1:], w[2:], w[3:], w[4:])))


def lines(inputs):
    for path in inputs:
        with open(path, "rb") as file:
            yield from file


def batches(inputs, size=1000):
    """Lists of (line, page): bulk interfaces are faster, and whole files need not fit in memory."""
    source = lines(inputs)
    while batch := list(islice(source, size)):
        yield [(line, orjson.loads(line)) for line in batch]


def deduplicate(args, keep):
    """Writes what `keep`, given a batch of pages, says to keep and to remove."""
    with open(args.kept, "wb") as kept, open(args.removed, "w") as removed:
        for batch in batches(args.inputs):
            for (line, page), stays in zip(batch, keep([page for _, page in batch])):
                if stays:
                    kept.write(line)
                else:
                    removed.write(page["id"] + "\n")
