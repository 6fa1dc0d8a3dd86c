"""Draws pairs of hits to be labelled by hand: sample_pairs.py PAGES.JSONL ANSWERS.JSONL --out PAIRS.CSV

Both pages of a pair are among the best 100 hits of one answer. Pairs come from bands of four measures, computed here and
not by onecopy, so that the borderline of each is covered; others are random. The choice depends on ids and texts only.
"""

import argparse
import collections
import csv
import hashlib
import json
import re
from itertools import combinations

import numpy as np

DEPTH = 100
WORDS = re.compile(r"\w+")
SHINGLE = 5
DIMENSIONS = 8192
BANDS = [(n / 10, (n + 1) / 10) for n in range(3, 10)] + [(1.0, 1.01)]
# Pairs of each band, of each measure. One query gives a band at most one pair, and at most PER_QUERY in all.
WANTED = {"jaccard": 20, "bloom": 12, "containment": 18, "cosine": 18, "random": 60}
PER_QUERY = 4


def number(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def sets_of(text):
    """Hashes of shingles, hashes of chunks, and a vector of word counts."""
    words = WORDS.findall(text.lower())
    grams = {hash(tuple(words[at : at + SHINGLE])) for at in range(max(1, len(words) - SHINGLE + 1))}
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    np.add.at(vector, [number(word) % DIMENSIONS for word in words], 1)
    chunks, chunk = set(), []
    for word in words:
        chunk.append(word)
        # A word in about forty ends a chunk, so that a chunk has about 256 bytes.
        if number(word) % 40 == 0:
            chunks.add(" ".join(chunk))
            chunk = []
    chunks.add(" ".join(chunk))
    return grams, {number(chunk) for chunk in chunks}, vector / max(1e-9, np.linalg.norm(vector))


def strata(one, other):
    """The bands that a pair is in."""
    shared, least = len(one[0] & other[0]), max(1, min(len(one[0]), len(other[0])))
    jaccard, contained = shared / max(1, len(one[0] | other[0])), shared / least
    bloom = len(one[1] & other[1]) / max(1, len(one[1]), len(other[1]))
    cosine = float(one[2] @ other[2])
    found = [f"{name} {low:.1f}" for name, value in (("jaccard", jaccard), ("bloom", bloom))
             for low, high in BANDS if low <= value < high]
    if contained >= 0.8 and jaccard < 0.7:
        found.append("containment")
    if cosine >= 0.85 and jaccard < 0.5:
        found.append("cosine")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages")
    parser.add_argument("answers")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.answers, encoding="utf-8") as lines:
        answers = {answer["query"]: answer["hits"][:DEPTH] for answer in map(json.loads, lines)}
    wanted_pages = {hit for hits in answers.values() for hit in hits}
    pages = {}
    with open(args.pages, encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            if page["id"] in wanted_pages:
                pages[page["id"]] = page["text"]
    candidates = collections.defaultdict(dict)
    for query, hits in answers.items():
        sets = {hit: sets_of(pages[hit]) for hit in hits}
        for a, b in combinations(hits, 2):
            order = number(f"{query} {a} {b}")
            for stratum in [*strata(sets[a], sets[b]), "random"]:
                best = candidates[stratum].get(query)
                if best is None or order < best[0]:
                    candidates[stratum][query] = (order, a, b)
    rows, taken, seen = [], collections.Counter(), set()
    for stratum in sorted(candidates, key=lambda name: len(candidates[name])):
        left = WANTED[stratum.split()[0]]
        for query, (_, a, b) in sorted(candidates[stratum].items(), key=lambda item: item[1]):
            if left and taken[query] < PER_QUERY and (a, b) not in seen:
                rows.append((number(f"{a} {b}"), query, a, b, stratum))
                taken[query] += 1
                seen.add((a, b))
                left -= 1
    with open(args.out, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["query", "id1", "id2", "stratum"])
        writer.writerows(row[1:] for row in sorted(rows))
    print(len(rows), "pairs", dict(collections.Counter(row[4] for row in rows)))


main()
