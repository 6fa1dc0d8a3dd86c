"""Bad data and bad options: clear errors, in the words of the program."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import onecopy
from onecopy import OnecopyError

PAGE = {"id": 1, "text": "one two three four five six"}


def refuse(match, data, **options):
    with pytest.raises(OnecopyError, match=match):
        onecopy.dedup(data, quiet=True, **options)


def test_wrong_data():
    refuse("no rows", [])
    refuse("a list of dictionaries", {"text": "x"})
    refuse("row 1 is of type int", [PAGE, 3])
    refuse("of type builtins.int", 3)
    refuse("no text: none of the columns `text`.*its columns are `body_text`", [{"body_text": "x"}])
    refuse("row 1: `text` is of type int, and text is wanted", [PAGE, {"id": 2, "text": 5}])
    refuse("row 1: `id` is of type str, and a whole number is wanted", [PAGE, {"id": "b", "text": "x"}])
    refuse("none of the 1 rows could be judged; row 0: no text", [{"id": 1, "text": None}])
    refuse("none of the 1 rows could be judged; row 0: no words", [{"id": 1, "text": "?!"}])
    refuse('the id 1 is in rows 0 and 2', [PAGE, {**PAGE, "id": 2}, PAGE])


def test_wrong_columns():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame([PAGE])
    refuse("no field `txt`; records have `id`, `text`.*text_field", frame, text_field="txt")
    refuse("its column `id` cannot be the text: it is not a column of text", frame, text_field="id")
    refuse("its column `text` is not a column of text", pandas.DataFrame({"text": [1, 2]}))
    refuse("no rows", frame.iloc[:0])
    refuse("no rows", pyarrow.Table.from_pandas(frame.iloc[:0]))
    refuse("values of several types", pandas.DataFrame({"text": ["a", 1, [2]]}))
    nulls = pandas.DataFrame({"text": ["one two three four five", None, float("nan")]})
    assert list(onecopy.dedup(nulls, quiet=True).rejected["row"]) == [1, 2]


def test_wrong_options():
    refuse("invalid value 'high' for 'threshold", [PAGE], threshold="high")
    refuse("threshold", [PAGE], threshold=7)
    refuse("method", [PAGE], method="nothing")
    refuse("out is for paths", [PAGE], out="x")
    refuse("cdxj is for paths", [PAGE], cdxj=True)
    refuse("give out", "pages.jsonl")
    refuse("no rows", [PAGE], against=[])
    with pytest.raises(TypeError):
        onecopy.dedup([PAGE], treshold=0.9)


def test_paths_fail_as_in_the_program(tmp_path):
    with pytest.raises(OnecopyError, match="missing.jsonl"):
        onecopy.dedup(tmp_path / "missing.jsonl", out=tmp_path / "out", quiet=True)


def test_an_iterator_that_raises():
    def broken():
        yield PAGE
        raise ZeroDivisionError("midway")

    with pytest.raises(ZeroDivisionError, match="midway"):
        onecopy.dedup(broken(), quiet=True)


def test_a_stream_that_breaks():
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.schema([("text", pyarrow.string())])

    def batches():
        yield pyarrow.record_batch([["one two three"]], schema=schema)
        raise ValueError("the disk is gone")

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    with pytest.raises((OnecopyError, ValueError), match="the disk is gone"):
        onecopy.sketch(Stream())


def test_ctrl_c_stops_a_run(tmp_path):
    script = textwrap.dedent("""
        import onecopy, random, sys
        words = [str(n) for n in range(50000)]
        chance = random.Random(1)
        pages = [{"id": n, "text": " ".join(chance.choices(words, k=400))} for n in range(6000)] * 1
        pages = [{"id": n, "text": pages[n % 6000]["text"]} for n in range(60000)]
        print("begun", flush=True)
        try:
            while True:
                onecopy.dedup(pages, quiet=True, threads=1)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    import time

    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=20)
    assert said == "stopped\n" and child.returncode == 0
    assert not [name for name in os.listdir(tmp_path)]
