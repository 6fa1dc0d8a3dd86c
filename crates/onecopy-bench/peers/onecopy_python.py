"""onecopy's Python package over rows that Python read, as for every other peer."""

import onecopy
import orjson

import pages

args = pages.arguments()
rows = [page for batch in pages.batches(args.inputs) for _, page in batch]
gone = {row["page"] for row in onecopy.dedup(rows, threshold=args.threshold, quiet=True).removed}
with open(args.kept, "wb") as kept, open(args.removed, "w") as removed:
    for page in rows:
        if page["id"] in gone:
            removed.write(page["id"] + "\n")
        else:
            kept.write(orjson.dumps(page) + b"\n")
