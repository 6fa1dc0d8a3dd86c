"""What travels between the machines of a cluster arrives as it was sent, and in few bytes."""

import random
import struct

import onecopy
import pytest
from onecopy import _onecopy

pyarrow = pytest.importorskip("pyarrow")
compute = pytest.importorskip("pyarrow.compute")


def packed(sketches, bins, sets):
    """Packs and unpacks sketches. Returns them in the order of rows, and the bytes on the way."""
    raw = [struct.pack(f"<{len(sketch)}Q", *sketch) for sketch in sketches]
    table = pyarrow.table({"bin": bins, "component": sets, "sketch": pyarrow.array(raw, pyarrow.binary())})
    found, size = [None] * len(sketches), 0
    for _, rows, blob in _onecopy.pack_sketches(table):
        size += len(blob)
        column = pyarrow.table(_onecopy.unpack_sketches(pyarrow.table({"sketches": [blob]})))["sketch"]
        for row, words in zip(rows, column.to_pylist(), strict=True):
            found[row] = list(struct.unpack(f"<{len(words) // 8}Q", words))
    return found, size


def test_sketches_of_similar_pages_travel_as_differences():
    chance = random.Random(5)
    words = lambda count: [chance.getrandbits(64) for _ in range(count)]
    base = sorted(words(500))
    near = [sorted(chance.sample(base, 470) + words(20)) for _ in range(20)]
    far = [sorted(words(300)) for _ in range(3)]
    # Sketches of other methods are no sets, or have no words.
    odd = [[7, 3, 3], [], [2**64 - 1]]
    sketches = near + far + odd
    bins = [chance.randrange(2) for _ in sketches]
    found, size = packed(sketches, bins, [1] * len(sketches))
    assert found == sketches
    whole = 8 * sum(map(len, sketches))
    assert size < 0.4 * whole, f"{size} of {whole} bytes"
    with pytest.raises(onecopy.OnecopyError, match="damaged on their way"):
        _onecopy.unpack_sketches(pyarrow.table({"sketches": [b"\x05"]}))


def test_outlines_keep_pages_of_one_template_apart():
    menu = " ".join(f"item{number}" for number in range(140))
    story = lambda seed: " ".join(f"w{random.Random(seed * 1000 + at).randrange(10**6)}" for at in range(60))
    texts = [f"{menu} {story(seed)}" for seed in range(40)] + [f"{menu} {story(0)} end"]
    plan = _onecopy.make_plan(["--method=jaccard"])
    pages = pyarrow.table({"id": [str(number) for number in range(len(texts))], "text": texts})
    facts = pyarrow.table(_onecopy.appraise_pages(pages, plan))
    rarity = onecopy.Rarity(4)
    _onecopy.count_sketches(rarity, facts)
    in_sets = {}
    # Many parts have no outlines.
    for parts in (1, 40):
        keys = pyarrow.table(_onecopy.key_parts(facts, plan, rarity, (parts, 40, False)))
        edges = pyarrow.concat_tables(
            pyarrow.table(_onecopy.key_edges(keys.filter(compute.equal(keys["part"], part)), plan)[0])
            for part in range(parts)
        )
        nodes = pyarrow.table(_onecopy.set_bins(edges, 1_000_000, 2)).to_pydict()
        in_sets[parts] = len(nodes["node"])
        both = {facts["node"][row].as_py() for row in (0, 40)}
        assert len({set_ for node, set_ in zip(nodes["node"], nodes["component"]) if node in both}) == 1
    assert in_sets[1] == 2 < in_sets[40], in_sets


def sets_of(edges):
    """The sets of several nodes that edges make."""
    found = pyarrow.table(_onecopy.connect_nodes(edges.select(["node", "root"]))).to_pydict()
    sets = {}
    for node, component in zip(found["node"], found["component"]):
        sets.setdefault(component, set()).add(node)
    return sorted(sorted(nodes) for nodes in sets.values() if len(nodes) > 1)


@pytest.mark.parametrize(("parts", "to_keep"), [(1, True), (3, True), (40, True), (3, False), (40, False)])
def test_fresh_keys_meet_the_keys_of_a_collection(parts, to_keep):
    plan, chance = _onecopy.make_plan(["--method=jaccard", "--threshold=0.6"]), random.Random(parts)
    texts = []
    for _ in range(240):
        words = [f"w{chance.randrange(5000)}" for _ in range(60)]
        if texts and chance.random() < 0.7:
            words = chance.choice(texts).split()
            for _ in range(chance.choice([0, 1, 3, 8])):
                words[chance.randrange(len(words))] = f"w{chance.randrange(5000)}"
        texts.append(" ".join(words))
    pages = pyarrow.table({"id": [str(number) for number in range(len(texts))], "text": texts})
    facts, rarity = pyarrow.table(_onecopy.appraise_pages(pages, plan)), onecopy.Rarity(12)
    _onecopy.count_sketches(rarity, facts)
    rarity = _onecopy.open_rarity(rarity)
    keys = [pyarrow.table(_onecopy.key_parts(facts[at : at + 40], plan, rarity, (parts, 48, to_keep))) for at in range(0, 240, 40)]
    of_part = lambda tables, part: [table.filter(compute.equal(table["part"], part)) for table in tables]
    edges_of = lambda tables: pyarrow.concat_tables(
        pyarrow.table(_onecopy.key_edges(pyarrow.concat_tables(of_part(tables, part)), plan)[0]) for part in range(parts)
    )
    fresh = _onecopy.FreshKeys(keys[5])
    for table in keys[:5]:
        fresh.meet(table)
    met = pyarrow.table(fresh.edges(plan))
    expected = sets_of(edges_of(keys))
    assert sets_of(pyarrow.concat_tables([edges_of(keys[:5]), met])) == expected != sets_of(edges_of(keys[:5]))
    # Sets that no fresh key meets are not looked at.
    assert sum(map(len, sets_of(met))) < sum(map(len, expected))
    with pytest.raises(onecopy.OnecopyError, match="keys of the collection are damaged"):
        _onecopy.FreshKeys(keys[5]).meet(pyarrow.table({"part": keys[5]["part"][:1], "keys": [b"\x02\x05"]}))
