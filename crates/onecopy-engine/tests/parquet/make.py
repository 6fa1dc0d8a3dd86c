"""Makes the Parquet files beside it, with pyarrow. They are kept in the repository: tests need no Python.

Run with `pip install pyarrow`, then `python make.py`.
"""

from datetime import date, datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent


def write(name, table, **options):
    pq.write_table(table, HERE / f"{name}.parquet", **options)


def strings():
    texts = ["one", None, "", "one", "zwölf"]
    for name, kind in [("string", pa.string()), ("large_string", pa.large_string()), ("string_view", pa.string_view())]:
        write(name, pa.table({"text": pa.array(texts, kind)}))
    write("binary", pa.table({"text": pa.array([t and t.encode() if t != "" else b"" for t in texts], pa.binary())}))
    write("dictionary", pa.table({"text": pa.array(texts).dictionary_encode()}))
    delta = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}, "data_page_version": "2.0"}
    write("delta", pa.table({"text": texts}), compression="zstd", **delta)


def times():
    moments = [datetime(2020, 2, 29, tzinfo=timezone.utc), datetime(1969, 12, 31, tzinfo=timezone.utc)]
    plain = [moment.replace(tzinfo=None) for moment in moments]
    for unit in ["s", "ms", "us", "ns"]:
        write(f"time_{unit}", pa.table({"text": ["a", "b"], "date": pa.array(plain, pa.timestamp(unit))}))
    zoned = pa.array(moments, pa.timestamp("us", tz="Europe/Berlin"))
    write("time_zone", pa.table({"text": ["a", "b"], "date": zoned}))
    old = pa.table({"text": ["a", "b"], "date": pa.array(plain, pa.timestamp("ns"))})
    write("time_old", old, use_deprecated_int96_timestamps=True)
    days = pa.array([date(2020, 2, 29), date(1969, 12, 31)], pa.date32())
    write("time_days", pa.table({"text": ["a", "b"], "date": days}))


def types():
    table = pa.table(
        {
            "meta": pa.array([{"url": "x"}, None, {"url": None}]),
            "text": pa.array(["first", None, "thïrd"]),
            "html": pa.array(["<p>first</p>", "<p>second</p>", None]),
            "id": pa.array([2**64 - 1, 2, None], pa.uint64()),
            "url": pa.array(["http://a.example/", "http://b.example/", None]),
            "time": pa.array([86_399_999, -1, 1_700_000_000_000], pa.timestamp("ms")),
            "score": pa.array([0.5, None, -3], pa.float32()),
            "links": pa.array([["a", "b"], [], None]),
        }
    )
    write("types", table, compression="gzip")
    full = pa.table({"html": ["<p>a</p>"], "content": ["b"], "text": ["c"]})
    write("full", full)


def nested():
    count = 40
    table = pa.table(
        {
            "text": pa.array([None if n % 7 == 0 else f"text {n}" for n in range(count)]),
            "links": pa.array([None if n % 5 == 0 else [f"l{k}" for k in range(n % 4)] for n in range(count)]),
            "meta": pa.array(
                [
                    None if n % 6 == 0 else {"n": n, "tags": [{"k": f"k{k}", "v": k} for k in range(n % 3)]}
                    for n in range(count)
                ]
            ),
            "map": pa.array([[(f"k{n}", n)] * (n % 3) for n in range(count)], pa.map_(pa.string(), pa.int64())),
            "fixed": pa.array([bytes([n] * 4) for n in range(count)], pa.binary(4)),
            "flag": pa.array([None if n % 4 == 0 else n % 2 == 0 for n in range(count)]),
            "price": pa.array([n for n in range(count)], pa.decimal128(12, 2)),
            "half": pa.array([n / 2 for n in range(count)], pa.float16()),
            "moment": pa.array(range(count), pa.timestamp("ns", tz="UTC")),
            "kind": pa.array([f"kind {n % 3}" for n in range(count)]).dictionary_encode(),
        }
    )
    table = table.replace_schema_metadata({"made by": "make.py"})
    codecs = {"text": "zstd", "links.list.element": "gzip"}
    codecs |= {name: "snappy" for name in ["flag", "price", "half", "moment", "kind", "fixed"]}
    write("nested", table, row_group_size=9, compression=codecs)


strings()
times()
types()
nested()
