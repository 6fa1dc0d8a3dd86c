"""Daft: minhash, bands and connected components, as in its tutorial on web text.

Words are made by a Daft expression equal to the token rule, so that the whole of the text work stays in Daft.
"""

import daft
from daft import col
from datasketch.lsh import _optimal_param

import pages

args = pages.arguments()
num_bands, rows = _optimal_param(args.threshold, pages.HASHES, 0.5, 0.5)

frame = daft.read_json(args.inputs).select("id", "text")
text = col("text").lower().regexp_replace(r"[^\p{L}\p{N}_]+", " ").lstrip().rstrip()
sketch = text.minhash(num_hashes=pages.HASHES, ngram_size=pages.SHINGLE, seed=1, hash_function="xxhash")
sketches = frame.select(col("id"), sketch.alias("sketch")).to_arrow()

ids = sketches.column("id").to_pylist()
values = sketches.column("sketch").combine_chunks().flatten().to_numpy(zero_copy_only=False)
values = values.reshape(len(ids), pages.HASHES)

parent = list(range(len(ids)))


def root(page):
    while parent[page] != page:
        parent[page] = parent[parent[page]]
        page = parent[page]
    return page


# The tutorial joins bands with group-bys over frames; a table a band gives the same groups for less.
for band in range(num_bands):
    first = {}
    block = values[:, band * rows : (band + 1) * rows].copy()
    for page, row in enumerate(block):
        a, b = root(first.setdefault(row.tobytes(), page)), root(page)
        parent[max(a, b)] = min(a, b)

place = {page: position for position, page in enumerate(ids)}
pages.deduplicate(args, lambda batch: (root(place[p["id"]]) == place[p["id"]] for p in batch))
