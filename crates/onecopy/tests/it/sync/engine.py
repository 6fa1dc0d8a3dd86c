"""Tantivy as a server with requests of Elasticsearch: engine.py PAGES.JSONL

It prints its port. It takes HEAD /web, PUT /web/_mapping, POST /web/_bulk with updates, and POST /web/_search with
query.bool.must.match.body, query.bool.must_not.term, collapse.field and size.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tantivy

WORDS = ["id", "onecopy_winner", "onecopy_status"]


class Pages:
    """The index, and its documents by id."""

    def __init__(self, path):
        schema = tantivy.SchemaBuilder()
        for name in WORDS:
            schema.add_text_field(name, stored=True, tokenizer_name="raw")
        schema.add_text_field("body", stored=True)
        schema.add_integer_field("onecopy_group", stored=True, indexed=True)
        self.index = tantivy.Index(schema.build())
        self.writer = self.index.writer(heap_size=15_000_000, num_threads=1)
        self.documents = {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                page = json.loads(line)
                self.put({"id": page["id"], "body": page["text"]})
        self.commit()

    def put(self, fields):
        self.documents[fields["id"]] = fields
        known = {name: value for name, value in fields.items() if value is not None}
        self.writer.add_document(tantivy.Document(**known))

    def commit(self):
        self.writer.commit()
        self.index.reload()

    def update(self, page, fields):
        if page not in self.documents:
            return {"_id": page, "status": 404, "error": {"type": "document_missing_exception", "reason": "missing"}}
        self.writer.delete_documents_by_term("id", page)
        self.put(self.documents[page] | fields)
        return {"_id": page, "status": 200, "result": "updated"}

    def search(self, asked):
        parts = asked["query"]["bool"]
        without = [f"-{name}:{value}" for name, value in parts["must_not"]["term"].items()]
        words = " ".join([f"+({parts['must']['match']['body']})", *without])
        searcher = self.index.searcher()
        found = searcher.search(self.index.parse_query(words, ["body"]), limit=100_000)
        field = asked.get("collapse", {}).get("field")
        hits, seen = [], set()
        for score, address in found.hits:
            page = {name: values[0] for name, values in searcher.doc(address).to_dict().items()}
            if field and page.get(field) in seen:
                continue
            seen.add(page.get(field))
            hits.append({"_id": page["id"], "_score": score, "_source": page})
        return {"hits": {"hits": hits}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/web/_bulk":
            lines = [json.loads(line) for line in body.splitlines()]
            pairs = zip(lines[::2], lines[1::2])
            items = [{"update": PAGES.update(a["update"]["_id"], b["doc"])} for a, b in pairs]
            PAGES.commit()
            self.answer({"took": 1, "errors": any("error" in item["update"] for item in items), "items": items})
        elif self.path == "/web/_search":
            self.answer(PAGES.search(json.loads(body)))
        else:
            self.answer({"acknowledged": True})

    do_HEAD = do_PUT = do_POST

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


PAGES = Pages(sys.argv[1])
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
