"""gaoya from Python: a page is dropped when the index already holds a similar one.

The built-in analyzer makes the shingles in Rust, several times faster than a Python callable. It splits at
punctuation, so it is given the words joined by spaces, underscores hidden.
"""

from gaoya.minhash import MinHashStringIndex

import pages

args = pages.arguments()


def bands(threshold, hashes, certainty=0.99):
    """gaoya's own rule in Rust (calculate_minhash_params): the widest bands that find 99 % at the threshold."""
    b, r = hashes, 1
    while b > 1 and 1 - (1 - threshold ** (r + 1)) ** (hashes // (r + 1)) > certainty:
        r += 1
        b = hashes // r
    return b, r


num_bands, band_size = bands(args.threshold, pages.HASHES)
index = MinHashStringIndex(
    hash_size=32,
    jaccard_threshold=args.threshold,
    num_bands=num_bands,
    band_size=band_size,
    analyzer="word",
    lowercase=False,
    ngram_range=(pages.SHINGLE, pages.SHINGLE),
    id_container="smallvec",
)
short = set()
inserted = 0


def is_first(page):
    global inserted
    words = pages.words(page["text"])
    text = " ".join(words).replace("_", "ˍ")
    if len(words) < pages.SHINGLE:
        # gaoya gives every text shorter than a shingle the same signature.
        first = text not in short
        short.add(text)
        return first
    if index.query(text):
        return False
    index.insert_document(inserted, text)
    inserted += 1
    return True


pages.deduplicate(args, lambda batch: map(is_first, batch))
