"""Pages for the tests of Spark, and how its answer is compared with that of one machine."""

import random

import onecopy

WORDS = [f"{a}{b}{c}" for a in "bdfglmprstvz" for b in "aeiou" for c in "nrstlk"]


def words(chance, count):
    return [chance.choice(WORDS) for _ in range(count)]


def edited(chance, text, edits):
    parts = text.split()
    for _ in range(edits):
        parts[chance.randrange(len(parts))] = chance.choice(WORDS)
    return " ".join(parts)


def html(chance, story, head=""):
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in MENU)
    paragraphs = " ".join(story.split()).split(" ")
    body = "".join(f"<p>{' '.join(paragraphs[at:at + 20])}, and so it was.</p>" for at in range(0, len(paragraphs), 20))
    return f"<!doctype html><html><head>{head}<title>t</title></head><body><ul>{menu}</ul><article>{body}</article></body></html>"


MENU = words(random.Random(3), 60)


def corpus(seed, count):
    """Near copies, chains of them, exact copies, templates, HTML, redirects, canonical links and pages without words."""
    chance, pages = random.Random(seed), []
    made = []
    for number in range(count):
        text, parent = " ".join(words(chance, chance.randrange(30, 160))), None
        if made and chance.random() < 0.6:
            parent = chance.randrange(number)
            text = edited(chance, made[parent], chance.choice([0, 0, 1, 1, 2, 3, 5]))
        made.append(text)
        host = chance.choice(["a.example", "b.example", "c.uk"])
        page = {
            "id": f"p{number}",
            "text": text,
            "url": f"http://{host}/{number % (count // 2)}" + chance.choice(["", "", "?x=1", "/"]),
            "clicks": chance.choice([None, number % 5]),
            "date": f"2024-01-{number % 28 + 1:02}",
            "redirect": None,
            "canonical": None,
        }
        if parent is not None and chance.random() < 0.2:
            page["url"] = pages[parent]["url"]
        kind = chance.random()
        to = f"http://{chance.choice(['a.example', 'b.example'])}/{chance.randrange(count)}"
        if kind < 0.25:
            head = f'<link rel="canonical" href="{to}">' if kind < 0.05 else ""
            page["text"] = html(chance, text, head)
        elif kind < 0.30:
            page["redirect"] = to
        elif kind < 0.33:
            page["redirect"], page["text"] = to, None
        elif kind < 0.43:
            page["canonical"] = to if parent is None else pages[parent]["url"]
        elif kind < 0.45:
            page["text"] = chance.choice([None, "!?", ""])
        pages.append(page)
    return pages


def rows(frame):
    return [row.asDict() for row in frame.collect()]


def one_machine(pages, **options):
    """The answer of one machine, in a form that can be compared."""
    found = onecopy.dedup(pages, quiet=True, **options)
    groups = {}
    for row in found.groups:
        groups.setdefault(row["group"], []).append((row["page"], row["status"]))
    return {
        "removed": sorted((row["page"], row["winner"], row["similarity"], row["kind"]) for row in found.removed),
        "groups": sorted((members[0][0], sorted(members)) for members in groups.values()),
        "rejected": sorted((row["page"], row["reason"]) for row in found.rejected),
        "kept": sorted(page["id"] for page in found.kept),
    }


def answer(found):
    """The answer of Spark, in the same form."""
    groups = {}
    for row in rows(found.groups):
        groups.setdefault(row["group"], []).append((row["page"], row["status"]))
    return {
        "removed": sorted((row["page"], row["winner"], row["similarity"], row["kind"]) for row in rows(found.removed)),
        "groups": sorted((best, sorted(members)) for best, members in groups.items()),
        "rejected": sorted((row["page"], row["reason"]) for row in rows(found.rejected)),
        "kept": sorted(row["id"] for row in rows(found.kept)),
    }


def check(found, expected):
    """Both answers are the same, page by page and group by group."""
    own = answer(found)
    for part in ("rejected", "removed", "groups", "kept"):
        here, there = ([repr(row) for row in side[part]] for side in (own, expected))
        missing, added = set(there) - set(here), set(here) - set(there)
        assert not missing and not added, f"{part}: missing {sorted(missing)[:3]}, not expected {sorted(added)[:3]}"
        assert len(here) == len(there), part


SCHEMA = "id string, text string, url string, clicks long, date string, redirect string, canonical string"


def frame(spark, pages, partitions=3):
    """Pages as a data frame in several parts."""
    return spark.createDataFrame([tuple(page.values()) for page in pages], SCHEMA).repartition(partitions)
