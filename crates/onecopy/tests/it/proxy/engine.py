"""Tantivy as a server that answers searches in the form of Elasticsearch: engine.py PAGES.JSONL

It prints its port. GET or POST /INDEX/_search takes q or query.match.body, from and size.
"""

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import tantivy


def index_of(path):
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("body", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            writer.add_document(tantivy.Document(id=page["id"], body=page["text"]))
    writer.commit()
    index.reload()
    return index


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if body:
            asked |= json.loads(body)
        if not url.path.endswith("/_search"):
            return self.answer(404, {"error": "no search"})
        words = asked.get("q") or asked["query"]["match"]["body"]
        searcher = self.server.index.searcher()
        query = self.server.index.parse_query(words, ["body"])
        start, size = int(asked.get("from", 0)), int(asked.get("size", 10))
        found = searcher.search(query, limit=size, offset=start, count=True)
        hits = []
        for score, address in found.hits:
            page = searcher.doc(address).to_dict()
            hits.append({"_id": page["id"][0], "_score": score, "_source": {"body": page["body"][0]}})
        self.answer(200, {"took": 1, "hits": {"total": {"value": found.count}, "hits": hits}})

    do_POST = do_GET

    def answer(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.index = index_of(sys.argv[1])
print(server.server_port, flush=True)
server.serve_forever()
