"""Writes a crawl with warcio, and replays kept archives with pywb over HTTP.

replay.py write FOLDER             first.warc.gz and second.warc
replay.py check FOLDER OUT CASE    ends with 0 if the kept archives of the run in OUT replay as the case says

The cases:
revisit                 every capture replays as from the given archives
all                     so it does, and each payload is stored once
revisit-or-leave-out    as the first, but near-duplicates are gone, with all records about them
leave-out               as the first, but removed pages are gone, with all records about them
"""

import base64
import hashlib
import io
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import fastwarc.warc
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

ARCHIVES = ["first.warc.gz", "second.warc"]
IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
STYLE = b"body { color: black }\n" * 50
START_SECONDS = 40
# What pywb adds, with the name of the collection in it.
PYWB_FIELDS = ["link", "date", "content-security-policy", "content-location", "memento-datetime", "location"]


def html(stem, start=0):
    text = " ".join(f"{stem}{n:03}" for n in range(start, start + 40))
    return f"<html><head><title>{stem}</title></head><body><p>{text}</p></body></html>".encode()


class Crawl:
    """Writes the records of captures, each a minute after the one before."""

    def __init__(self, file, gzip, minute):
        self.writer = WARCWriter(file, gzip=gzip, warc_version="1.1")
        self.minute = minute
        self.info = self.writer.create_warcinfo_record("crawl", {"software": "a test"})
        self.writer.write_record(self.info)

    def record(self, kind, uri, date, payload, http=None, content_type=None):
        fields = {"WARC-Date": date, "WARC-Warcinfo-ID": self.info.rec_headers.get_header("WARC-Record-ID")}
        if content_type:
            fields["Content-Type"] = content_type
        return self.writer.create_warc_record(
            uri,
            kind,
            payload=io.BytesIO(payload),
            http_headers=http,
            warc_headers_dict=fields,
            warc_content_type=content_type or "",
        )

    def http(self, status, uri, fields):
        return StatusAndHeaders(status, [("X-Uri", uri), *fields], protocol="HTTP/1.1")

    def capture(self, uri, body, kind="text/html", status="200 OK", style="request", extra=(), digest=True):
        """A response, its request and its metadata. `style` says which record names which."""
        self.minute += 1
        date = f"2024-01-02T03:{self.minute:02}:05Z"
        response = self.record("response", uri, date, body, self.http(status, uri, [("Content-Type", kind), *extra]))
        path = "/" + uri.split("/", 3)[3]
        asked = StatusAndHeaders(f"GET {path} HTTP/1.1", [("Host", uri.split("/")[2])], is_http_request=True)
        request = self.record("request", uri, date, b"", asked)
        about = self.record("metadata", uri, date, b"fetchTimeMs: 7\r\n", content_type="application/warc-fields")
        name = lambda record: record.rec_headers.get_header("WARC-Record-ID")
        about.rec_headers.add_header("WARC-Concurrent-To", name(response))
        if style == "request":
            request.rec_headers.add_header("WARC-Concurrent-To", name(response))
        else:
            response.rec_headers.add_header("WARC-Concurrent-To", name(request))
        if not digest:
            response.rec_headers.remove_header("WARC-Payload-Digest")
            response.rec_headers.remove_header("WARC-Block-Digest")
        records = [response, request, about] if style == "request" else [request, response, about]
        for record in records:
            self.writer.write_record(record)
        return response

    def revisit(self, uri, original):
        self.minute += 1
        headers = original.rec_headers
        record = self.writer.create_revisit_record(
            uri,
            headers.get_header("WARC-Payload-Digest"),
            headers.get_header("WARC-Target-URI"),
            headers.get_header("WARC-Date"),
            http_headers=self.http("200 OK", uri, [("Content-Type", "text/html")]),
            warc_headers_dict={"WARC-Date": f"2024-01-02T03:{self.minute:02}:05Z"},
        )
        self.writer.write_record(record)


def write(folder):
    with open(folder / ARCHIVES[0], "wb") as file:
        crawl = Crawl(file, True, 0)
        crawl.capture("http://later.example/copy/of/1", html("one"), extra=[("Server", "x")], style="response")
        crawl.capture("http://a.example/1", html("one"))
        crawl.capture("http://b.example/nearly/as/1", html("one", 2))
        crawl.capture("http://a.example/old", b"<html>moved</html>", status="301 Moved", extra=[("Location", "/1")])
        crawl.capture("http://a.example/logo.png", IMAGE, "image/png")
        crawl.capture("http://a.example/site.css", STYLE, "text/css", digest=False)
        crawl.capture("http://a.example/other", html("other"), digest=False)
        crawl.capture("http://a.example/gone", b"<html>gone, gone, gone</html>", status="404 Not Found")
        chunked = [("Transfer-Encoding", "chunked")]
        crawl.capture("http://a.example/chunked", b"5\r\nhello\r\n0\r\n\r\n", "font/woff", extra=chunked)
        crawl.capture("http://a.example/plain", b"5\r\nhello\r\n0\r\n\r\n", "font/woff")
    with open(folder / ARCHIVES[1], "wb") as file:
        crawl = Crawl(file, False, 20)
        crawl.capture("http://c.example/again/1", html("one"), "text/html; charset=utf-8", style="response")
        near = crawl.capture("http://d.example/nearly/as/1/too", html("one", 2))
        crawl.revisit("http://d.example/revisited", near)
        crawl.capture("http://b.example/logo.png", IMAGE, "image/x-png", style="response")
        crawl.capture("http://c.example/logo.png", IMAGE, "image/png", extra=[("Server", "y")])
        crawl.capture("http://b.example/site.css", STYLE, "text/css", digest=False)
        crawl.capture("http://b.example/a/copy/of/other", html("other"))
        crawl.capture("http://b.example/gone", b"<html>gone, gone, gone</html>", status="410 Gone")
        crawl.capture("http://b.example/empty", b"", "text/plain")
        crawl.capture("http://c.example/empty", b"", "text/plain")
        for uri in ["http://d.example/shot.png", "http://e.example/shot.png"]:
            shot = crawl.record("resource", uri, "2024-01-02T03:50:05Z", IMAGE, content_type="image/png")
            crawl.writer.write_record(shot)


def captures(path):
    """The address and the timestamp of each capture."""
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type in ("response", "revisit", "resource"):
                date = record.rec_headers.get_header("WARC-Date")
                yield record.rec_headers.get_header("WARC-Target-URI"), "".join(filter(str.isdigit, date))[:14]


def run(*command):
    done = subprocess.run([sys.executable, "-c", *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def check_records(folder):
    """Lengths, digests and references hold in every record."""
    ids, mentions = set(), []
    for name in ARCHIVES:
        run("from warcio.cli import main; main()", "check", "-v", str(folder / name))
        with open(folder / name, "rb") as file:
            for record in fastwarc.warc.ArchiveIterator(file, parse_http=False):
                headers, block = record.headers, record.reader.read()
                assert headers["WARC-Record-ID"] not in ids, headers
                ids.add(headers["WARC-Record-ID"])
                stated = headers.get("WARC-Block-Digest")
                found = "sha1:" + base64.b32encode(hashlib.sha1(block).digest()).decode()
                assert stated in (None, found), (headers, found)
                assert int(headers["Content-Length"]) == len(block), headers
                for field, value in headers.asdict().items():
                    if field in ("WARC-Concurrent-To", "WARC-Refers-To", "WARC-Warcinfo-ID"):
                        mentions.append((headers["WARC-Target-URI"], field, value))
    dangling = [mention for mention in mentions if mention[2] not in ids]
    assert not dangling, dangling


def index(folder, names, target):
    """The index of the archives by pywb's indexer, as CDXJ."""
    archives = [str(folder / name) for name in names]
    target.write_text(run("from pywb.indexer.cdxindexer import main; main()", "-j", "-s", *archives))


class Wayback:
    """A pywb server of the given and the kept archives."""

    def __init__(self, home, folders):
        names = {}
        for name, folder in folders.items():
            # Kept archives have indexes beside them.
            if name == "given":
                index(folder, ARCHIVES, home / "given.cdxj")
            paths = str(home / "given.cdxj") if name == "given" else str(folder) + "/"
            names[name] = {"index_paths": paths, "archive_paths": str(folder) + "/"}
        (home / "config.yaml").write_text(json.dumps({"collections": names}))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        start = "from pywb.apps.cli import wayback; wayback()"
        command = [sys.executable, "-c", start, "-b", "127.0.0.1", "-p", str(self.port)]
        self.log = open(home / "log", "w+b")
        self.process = subprocess.Popen(command, cwd=home, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        self.log.seek(0)
        raise AssertionError(f"pywb does not start: {self.log.read()}")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def get(self, collection, timestamp, uri):
        """The status, the archived header and the body of a capture."""
        opener = urllib.request.build_opener(NoRedirect)
        request = f"http://127.0.0.1:{self.port}/{collection}/{timestamp}id_/{uri}"
        try:
            answer = opener.open(request, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in PYWB_FIELDS}
        return answer.status, headers, answer.read()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def check_index(kept):
    """The index beside each archive is that of pywb's indexer."""
    for name in ARCHIVES:
        with tempfile.TemporaryDirectory() as home:
            expected = pathlib.Path(home) / "index"
            index(kept, [name], expected)
            assert (kept / f"{name}.cdxj").read_text() == expected.read_text(), (name, expected.read_text())


def check(given, out, case):
    kept = out / "kept"
    check_records(kept)
    check_index(kept)
    removed = map(json.loads, (out / "removed.jsonl").read_text().splitlines())
    gone = {"leave-out": ["exact", "near"], "revisit-or-leave-out": ["near"]}.get(case, [])
    gone = {line["page"] for line in removed if line["kind"] in gone}
    with tempfile.TemporaryDirectory() as home, Wayback(pathlib.Path(home), {"given": given, "kept": kept}) as wayback:
        replayed = 0
        for uri, at in [found for name in ARCHIVES for found in captures(given / name)]:
            before, after = (wayback.get(collection, at, uri) for collection in ("given", "kept"))
            assert before[0] in (200, 301, 404, 410), (uri, before)
            assert after == before if uri not in gone else after[0] == 404, (case, uri, before, after)
            replayed += 1
    assert replayed == 22 and len(gone) == {"leave-out": 6, "revisit-or-leave-out": 3}.get(case, 0), (replayed, gone)
    if case == "all":
        check_stored_once(kept)


def check_stored_once(kept):
    """No two records store the same payload, but for one that a revisit of the given archives refers to."""
    stored = {}
    for name in ARCHIVES:
        with open(kept / name, "rb") as file:
            for record in ArchiveIterator(file):
                headers, payload = record.rec_headers, record.raw_stream.read()
                if record.rec_type in ("response", "resource") and payload:
                    uri = headers.get_header("WARC-Target-URI")
                    first = stored.setdefault((record.rec_type, payload), uri)
                    assert first == uri or uri == "http://d.example/nearly/as/1/too", (first, uri)
    assert len(stored) == 9, list(stored.values())


def main(command, folder, *rest):
    if command == "write":
        write(pathlib.Path(folder))
    else:
        check(pathlib.Path(folder), pathlib.Path(rest[0]), rest[1])


main(*sys.argv[1:])
