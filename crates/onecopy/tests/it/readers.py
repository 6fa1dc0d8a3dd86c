"""Writes inputs with warcio and pyarrow, and reads kept files with warcio, fastwarc and pyarrow.

readers.py write FOLDER         crawl.warc, crawl.warc.gz and rows-*.parquet
readers.py check FOLDER OUT     ends with 0 if the kept files of the run in OUT are what they should be
"""

import datetime
import io
import json
import pathlib
import subprocess
import sys

import fastwarc.warc
import pyarrow as pa
import pyarrow.parquet as pq
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

ARCHIVES = ["crawl.warc", "crawl.warc.gz"]
KINDS = {
    "string": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


def words(stem, start=0):
    return " ".join(f"{stem}{n:03}" for n in range(start, start + 40))


def write_archive(path):
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=path.suffix == ".gz")
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "a test"}))

        def response(uri, status, kind, body):
            http = StatusAndHeaders(status, [("Content-Type", kind)], protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(uri, "response", payload=io.BytesIO(body), http_headers=http))

        def page(uri, text):
            response(uri, "200 OK", "text/html", f"<html><body><p>{text}</p></body></html>".encode())

        name = path.name.replace(".", "-")
        page(f"http://{name}/1", words(name))
        page(f"http://{name}/copy-of-1", words(name))
        page(f"http://{name}/nearly-as-1", words(name, 2))
        page(f"http://{name}/other", words(name + "other"))
        response(f"http://{name}/image", "200 OK", "image/png", b"\x89PNG\r\n\x1a\n")
        response(f"http://{name}/gone", "404 Not Found", "text/html", b"<html>gone</html>")


def write_rows(path, kind, text_type):
    count = 30
    start = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)
    table = pa.table(
        {
            "id": [f"{kind}-{n}" for n in range(count)],
            "text": pa.array([words(f"{kind}{n // 3}x") for n in range(count)], pa.string()).cast(text_type),
            "fetched": pa.array([start + datetime.timedelta(hours=n) for n in range(count)], pa.timestamp("us", "UTC")),
            "day": pa.array([datetime.date(2024, 1, 1 + n) if n % 4 else None for n in range(count)], pa.date32()),
            "score": pa.array([n / 7 if n % 5 else None for n in range(count)]),
            "links": pa.array(
                [None if n % 6 == 5 else [{"to": f"/{m}", "tags": ["a", None][: m % 3]} for m in range(n % 4)] for n in range(count)],
                pa.list_(pa.struct([("to", pa.string()), ("tags", pa.list_(pa.string()))])),
            ),
            "raw": pa.array([bytes([n, 0, 255]) for n in range(count)], pa.binary()),
            "nothing": pa.nulls(count, pa.int16()),
        },
        metadata={"made by": "a test"},
    )
    pq.write_table(table, path, row_group_size=7, compression="zstd")


def by_warcio(path):
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, no_record_parse=False):
            headers = record.rec_headers
            yield record.rec_type, headers.get_header("WARC-Target-URI"), record.content_stream().read()


def by_fastwarc(path):
    with open(path, "rb") as file:
        for record in fastwarc.warc.ArchiveIterator(file, parse_http=True):
            yield record.headers["WARC-Type"], record.headers.get("WARC-Target-URI"), record.reader.read()


def check_archive(given, kept, removed):
    copies = [uri for uri in removed if removed[uri]["kind"] == "exact"]
    for read in (by_warcio, by_fastwarc):
        expected = [
            ("revisit", uri, b"") if uri in copies else (kind, uri, payload) for kind, uri, payload in read(given)
        ]
        assert len(expected) == 7, (read.__name__, expected)
        assert list(read(kept)) == expected, (read.__name__, kept, list(read(kept)), expected)
    with open(kept, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "revisit":
                headers, uri = record.rec_headers, record.rec_headers.get_header("WARC-Target-URI")
                assert headers.get_header("WARC-Refers-To-Target-URI") == removed[uri]["winner"], uri
                assert record.http_headers.get_statuscode() == "200", uri
    command = [sys.executable, "-c", "from warcio.cli import main; main()", "check", str(kept)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def check_rows(given, kept, removed):
    before, after = pq.ParquetFile(given), pq.ParquetFile(kept)
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True), (kept, after.schema_arrow)
    assert after.schema.equals(before.schema), (kept, after.schema)
    expected = [row for row in pq.read_table(given).to_pylist() if row["id"] not in removed]
    assert pq.read_table(kept).to_pylist() == expected, kept
    assert after.metadata.num_rows == 10, (kept, after.metadata.num_rows)
    assert after.metadata.row_group(0).column(0).compression == "ZSTD"


def main(command, folder, out=None):
    folder = pathlib.Path(folder)
    if command == "write":
        for name in ARCHIVES:
            write_archive(folder / name)
        for kind, text_type in KINDS.items():
            write_rows(folder / f"rows-{kind}.parquet", kind, text_type)
        return
    out = pathlib.Path(out)
    lines = (out / "removed.jsonl").read_text().splitlines()
    removed = {line["page"]: line for line in map(json.loads, lines)}
    assert len(removed) == 2 * 2 + 4 * 20, len(removed)
    for name in ARCHIVES:
        check_archive(folder / name, out / "kept" / name, removed)
    for kind in KINDS:
        check_rows(folder / f"rows-{kind}.parquet", out / "kept" / f"rows-{kind}.parquet", removed)


main(*sys.argv[1:])
