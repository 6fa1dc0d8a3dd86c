"""rensa's R-MinHash with its own deduplicator, as its documentation shows.

Sixteen bands of eight: those it chooses by itself leave four times as many near-duplicates in, for the same time.
"""

from itertools import count

from rensa import RMinHashDeduplicator

import pages

args = pages.arguments()
seen = RMinHashDeduplicator(threshold=args.threshold, num_perm=pages.HASHES, use_lsh=True, num_bands=16)
number = count()
pages.deduplicate(
    args,
    lambda batch: seen.add_pairs([(str(next(number)), pages.shingles(page["text"])) for page in batch]),
)
