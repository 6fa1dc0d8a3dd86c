"""A crawl deduplicated by a chain of libraries: FastWARC reads it, resiliparse makes text, rensa or gaoya compares.

Each step as its documentation shows it. The chain writes the text of kept pages; a file in the format of the crawl would
cost more.
"""

import argparse
from itertools import count

import orjson
import pages
from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding


def texts(path):
    """The address and the main content of each HTML page."""
    for record in ArchiveIterator(path, record_types=WarcRecordType.response, parse_http=True, auto_decode="all"):
        if "html" not in (record.http_content_type or ""):
            continue
        body = record.reader.read()
        html = bytes_to_str(body, record.http_charset or detect_encoding(body))
        yield record.headers.get("WARC-Target-URI", ""), extract_plain_text(html, main_content=True, alt_texts=False)


def rensa(threshold):
    from rensa import RMinHashDeduplicator

    seen = RMinHashDeduplicator(threshold=threshold, num_perm=pages.HASHES, use_lsh=True, num_bands=16)
    number = count()
    return lambda text: seen.add_pairs([(str(next(number)), pages.shingles(text))])[0]


def gaoya(threshold):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=threshold,
        num_bands=16,
        band_size=8,
        analyzer="word",
        lowercase=True,
        ngram_range=(pages.SHINGLE, pages.SHINGLE),
        id_container="smallvec",
    )
    number = count()

    def is_first(text):
        if index.query(text):
            return False
        index.insert_document(next(number), text)
        return True

    return is_first


parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--kept", required=True)
parser.add_argument("--index", choices=["rensa", "gaoya"], required=True)
args = parser.parse_args()
is_first = {"rensa": rensa, "gaoya": gaoya}[args.index](0.8)
read = kept = 0
with open(args.kept, "wb") as out:
    for address, text in texts(args.file):
        read += 1
        if is_first(text):
            kept += 1
            out.write(orjson.dumps({"url": address, "text": text}) + b"\n")
print(f"{args.file}: {kept} kept of {read} records")
