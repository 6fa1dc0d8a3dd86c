"""Real search answers: indexes pages with tantivy and answers queries that are drawn from the pages.

search_answers.py PAGES.JSONL --index DIR --out ANSWERS.JSONL [--queries N] [--hits N]

A page has id, url and text; the first line of the text is its title. Half of the queries are words of titles, half are
words of texts. Sources (the part of an id before its first "-") get the same number of queries. The choice depends on
ids and texts only. Each line of the answers: query, kind, source, matched (how many pages match) and hits (ids).
"""

import argparse
import collections
import hashlib
import json
import os
import re
import shutil

import tantivy

WORD = re.compile(r"[^\W\d_][^\W_]{2,}")
# Words in fewer pages are names that only copies have. Words in a larger share of pages tell nothing.
LEAST_PAGES = 20
MOST_SHARE = {"title": 0.2, "text": 0.02}


def number(text):
    """A number that depends only on the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def pages(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            title, _, body = page["text"].partition("\n")
            yield page["id"], title, body


def build(path, folder):
    """Indexes title and body of each page, and counts in how many pages each word is."""
    unfinished = f"{folder}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    os.makedirs(unfinished)
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("title")
    schema.add_text_field("body")
    index = tantivy.Index(schema.build(), path=unfinished)
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    frequencies, count = collections.Counter(), 0
    for name, title, body in pages(path):
        writer.add_document(tantivy.Document(id=name, title=title, body=body))
        frequencies.update(set(WORD.findall(f"{title} {body}".lower())))
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    least = {word: of for word, of in frequencies.items() if of >= LEAST_PAGES}
    with open(f"{unfinished}/words.json", "w", encoding="utf-8") as out:
        json.dump({"pages": count, "words": least}, out)
    os.rename(unfinished, folder)


def words_of(text, usual):
    """Two or three different usual words of a text, in its order."""
    words = list(dict.fromkeys(word for word in WORD.findall(text.lower()) if word in usual))
    chosen = sorted(words, key=lambda word: number(f"{word} of {text[:200]}"))[: 2 + number(text) % 2]
    return [word for word in words if word in chosen]


def queries(path, frequencies, wanted):
    """(words, kind, source), as many of each source and kind, in an order by hash."""
    count = frequencies["pages"]
    usual = {
        kind: {word for word, of in frequencies["words"].items() if of <= share * count}
        for kind, share in MOST_SHARE.items()
    }
    drawn = collections.defaultdict(list)
    for name, title, body in pages(path):
        kind = "title" if number(name) % 2 else "text"
        drawn[name.partition("-")[0], kind].append((number(name), title if kind == "title" else body))
    share = -(-wanted // len(drawn))
    found = {}
    for (source, kind), texts in sorted(drawn.items()):
        taken = 0
        for _, text in sorted(texts):
            words = " ".join(words_of(text, usual[kind]))
            if taken < share and " " in words and words not in found:
                found[words] = (kind, source)
                taken += 1
    return [(words, *of) for words, of in sorted(found.items(), key=lambda item: number(item[0]))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages")
    parser.add_argument("--index", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--queries", type=int, default=240)
    parser.add_argument("--hits", type=int, default=320)
    args = parser.parse_args()
    if not os.path.exists(args.index):
        build(args.pages, args.index)
    index = tantivy.Index.open(args.index)
    with open(f"{args.index}/words.json", encoding="utf-8") as read:
        known = json.load(read)
    index.reload()
    searcher = index.searcher()
    with open(args.out, "w", encoding="utf-8") as out:
        for words, kind, source in queries(args.pages, known, args.queries):
            query = index.parse_query(words, ["title", "body"])
            found = searcher.search(query, limit=args.hits, count=True)
            hits = [searcher.doc(address)["id"][0] for _, address in found.hits]
            answer = {"query": words, "kind": kind, "source": source, "matched": found.count, "hits": hits}
            out.write(json.dumps(answer, ensure_ascii=False) + "\n")


main()
