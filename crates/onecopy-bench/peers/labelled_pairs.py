"""Finds the pairs of extracted texts that a usual comparison calls duplicates, for scoring against labels.

`tfidf` is the cosine of word frequencies weighted by rarity, with the settings of scikit-learn, over all pairs.
`minhash` is MinHash over 5-word shingles with the bands that datasketch chooses; no pair is verified, as in the
pipelines that use it.
"""

import argparse
import json
import re

HASHES = 128
WORDS = re.compile(r"\w+")
ROWS = 500  # of the matrix of cosines at a time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("texts")
    parser.add_argument("--out", required=True)
    parser.add_argument("--setting", required=True, choices=["tfidf", "minhash"])
    parser.add_argument("--threshold", type=float, required=True)
    return parser.parse_args()


def tfidf(texts, threshold):
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer().fit_transform(texts)
    for start in range(0, len(texts), ROWS):
        cosines = (weights[start : start + ROWS] @ weights.T).tocoo()
        for row, column, cosine in zip(cosines.row, cosines.col, cosines.data):
            if start + row < column and cosine >= threshold:
                yield start + row, column


def shingles(text):
    words = WORDS.findall(text.lower())
    windows = max(1, len(words) - 4)
    return {" ".join(words[at : at + 5]).encode() for at in range(windows)}


def minhash(texts, threshold):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=HASHES)
    for number, text in enumerate(texts):
        sketch = MinHash(num_perm=HASHES)
        sketch.update_batch(shingles(text))
        for other in index.query(sketch):
            yield other, number
        index.insert(number, sketch)


args = arguments()
with open(args.texts, encoding="utf-8") as lines:
    pages = [page for page in map(json.loads, lines) if page.get("text", "").strip()]
find = {"tfidf": tfidf, "minhash": minhash}[args.setting]
with open(args.out, "w", encoding="utf-8") as out:
    for a, b in find([page["text"] for page in pages], args.threshold):
        out.write(json.dumps([pages[a]["id"], pages[b]["id"]]) + "\n")
