"""datasketch: MinHash in bulk with a fast hash, as its documentation advises, and MinHashLSH with its own bands."""

from itertools import count

from datasketch import MinHash, MinHashLSH
from xxhash import xxh32_intdigest

import pages

args = pages.arguments()
index = MinHashLSH(threshold=args.threshold, num_perm=pages.HASHES)
number = count()


def keep(batch):
    sets = ([shingle.encode() for shingle in set(pages.shingles(page["text"]))] for page in batch)
    for sketch in MinHash.generator(sets, num_perm=pages.HASHES, hashfunc=xxh32_intdigest):
        stays = not index.query(sketch)
        if stays:
            index.insert(next(number), sketch, check_duplication=False)
        yield stays


pages.deduplicate(args, keep)
