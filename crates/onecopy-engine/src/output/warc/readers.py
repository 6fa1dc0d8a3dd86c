"""Prints type, address and winner of every record of a WARC file, as a reader of others sees them."""

import sys


def warcio(path):
    from warcio.archiveiterator import ArchiveIterator

    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            assert record.http_headers.get_statuscode() == "200"
            record.content_stream().read()
            yield record.rec_type, record.rec_headers.get_header


def fastwarc(path):
    from fastwarc.warc import ArchiveIterator

    for record in ArchiveIterator(path, parse_http=True):
        assert record.http_headers.status_code == 200
        record.reader.read()
        yield record.headers.get("WARC-Type"), record.headers.get


for kind, header in {"warcio": warcio, "fastwarc": fastwarc}[sys.argv[1]](sys.argv[2]):
    print(kind, header("WARC-Target-URI"), header("WARC-Refers-To-Target-URI"))
