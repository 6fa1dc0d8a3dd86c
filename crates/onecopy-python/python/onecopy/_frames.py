"""The caller's own data: how pages get out of it as Arrow, and how rows are taken from it.

No library is imported that the caller does not use.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, Sequence

from . import _onecopy
from ._onecopy import OnecopyError


def is_paths(data: Any) -> bool:
    """Whether data is a path, or a list of paths."""
    if isinstance(data, (str, os.PathLike)):
        return True
    listed = isinstance(data, (list, tuple)) and len(data) > 0
    return listed and all(isinstance(item, (str, os.PathLike)) for item in data)


class Frame:
    """Data in one of the supported forms."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.data.column_names)

    def stream(self, names: Sequence[str]) -> Any:
        """The columns of these names, as an object with `__arrow_c_stream__`."""
        raise NotImplementedError

    def take(self, rows: Sequence[int]) -> Any:
        """These rows, in the same form."""
        raise NotImplementedError

    def table(self, table: Any) -> Any:
        """A table of results, in the same form."""
        raise NotImplementedError


def frame(data: Any) -> Frame:
    """The form of the data."""
    family = type(data).__module__.split(".")[0]
    name = type(data).__name__
    if isinstance(data, (str, bytes)):
        raise OnecopyError("the data is one text, and pages are wanted: give a list of dictionaries")
    if family == "pandas" and name == "DataFrame":
        return _Pandas(data)
    if family == "polars" and name in ("DataFrame", "LazyFrame"):
        return _Polars(data.collect() if name == "LazyFrame" else data)
    if family == "datasets" and name == "Dataset":
        return _HuggingFace(data)
    if family == "datasets" and name.endswith("DatasetDict"):
        splits = ", ".join(repr(split) for split in data)
        raise OnecopyError(f"the data is divided into splits: give one of them ({splits})")
    if family == "pyarrow":
        return _Arrow(_arrow_table(data))
    if hasattr(data, "__arrow_c_stream__"):
        return _AnyArrow(data)
    if isinstance(data, Mapping):
        raise OnecopyError("the data is one dictionary: give a list of dictionaries, one for each page")
    if isinstance(data, Iterable):
        return _Dictionaries(list(data))
    raise OnecopyError(
        f"the data is of type {family}.{name}: give paths, dictionaries, or a table of "
        "pandas, polars, pyarrow or Hugging Face datasets"
    )


def pages(data: Frame, texts: Sequence[str], others: Sequence[str]) -> Any:
    """The columns that make pages, as an Arrow stream. Without a column of text, an error will name all columns."""
    present = data.columns()
    if not any(name in present or name.split(".")[0] in present for name in texts):
        return _onecopy.columns({name: [None] * len(data.data) for name in present})
    return data.stream([*texts, *others])


def _wanted(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns that may make a page. A name with a dot leads into a column of structures."""
    tops = {name.split(".")[0] for name in names} | set(names)
    return [column for column in columns if column in tops]


class _Pandas(Frame):
    def columns(self) -> list[str]:
        return [column for column in self.data.columns if isinstance(column, str)]

    def stream(self, names: Sequence[str]) -> Any:
        part = self.data[_wanted(self.columns(), names)]
        if part.columns.has_duplicates:
            raise OnecopyError("two columns have one name: rename one of them")
        try:
            import pyarrow
        except ImportError:
            lists = {name: [_plain(value) for value in part[name].tolist()] for name in part.columns}
            return _onecopy.columns(lists)
        try:
            return pyarrow.Table.from_pandas(part, preserve_index=False)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            raise OnecopyError(f"a column has values of several types: {error}") from error

    def take(self, rows: Sequence[int]) -> Any:
        return self.data.iloc[rows]

    def table(self, table: Any) -> Any:
        import pandas

        return pandas.DataFrame(table.to_pydict(), columns=table.column_names)


def _plain(value: Any) -> Any:
    """A value of pandas as one of Python. Missing values are not equal to themselves."""
    if value is None or value != value:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


class _Polars(Frame):
    def columns(self) -> list[str]:
        return list(self.data.columns)

    def stream(self, names: Sequence[str]) -> Any:
        return self.data.select(_wanted(self.columns(), names))

    def take(self, rows: Sequence[int]) -> Any:
        return self.data[rows]

    def table(self, table: Any) -> Any:
        import polars

        return polars.DataFrame(table)


class _Arrow(Frame):
    def stream(self, names: Sequence[str]) -> Any:
        return self.data.select(_wanted(self.columns(), names))

    def take(self, rows: Sequence[int]) -> Any:
        import pyarrow

        mask = bytearray(len(self.data))
        for row in rows:
            mask[row] = 1
        try:
            return self.data.filter(pyarrow.array(mask, pyarrow.uint8()).cast(pyarrow.bool_()))
        except pyarrow.ArrowNotImplementedError:
            # Views have no such function in pyarrow. Slices share the memory of the data.
            return pyarrow.concat_tables([self.data.slice(row, 1) for row in rows] or [self.data.slice(0, 0)])

    def table(self, table: Any) -> Any:
        import pyarrow

        return pyarrow.table(table)


def _arrow_table(data: Any) -> Any:
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([data])
    if isinstance(data, pyarrow.RecordBatchReader):
        return data.read_all()
    if hasattr(data, "to_table"):
        return data.to_table()
    raise OnecopyError(f"the data is a pyarrow {type(data).__name__}: give a table or a dataset")


class _AnyArrow(_Arrow):
    """Any other table with `__arrow_c_stream__`. Results are pyarrow tables."""

    def __init__(self, data: Any) -> None:
        import pyarrow

        super().__init__(pyarrow.table(data))


class _HuggingFace(Frame):
    def stream(self, names: Sequence[str]) -> Any:
        return self.data.select_columns(_wanted(self.columns(), names)).with_format("arrow")[:]

    def take(self, rows: Sequence[int]) -> Any:
        return self.data.select(rows)

    def table(self, table: Any) -> Any:
        import datasets
        import pyarrow

        return datasets.Dataset(pyarrow.table(table))


class _Dictionaries(Frame):
    def __init__(self, data: list[Any]) -> None:
        super().__init__(data)
        if not data:
            raise OnecopyError("the data has no rows: give at least one page")
        for row, page in enumerate(data):
            if not isinstance(page, Mapping):
                raise OnecopyError(f"row {row} is of type {type(page).__name__}, and a dictionary is wanted")

    def columns(self) -> list[str]:
        return sorted({str(name) for page in self.data for name in page})

    def stream(self, names: Sequence[str]) -> Any:
        present = set(self.columns())
        columns = {name: [page.get(name) for page in self.data] for name in names if name in present}
        for name in (name for name in names if "." in name and name not in present):
            columns[name] = [_inside(page, name) for page in self.data]
        return _onecopy.columns({name: [_plain(value) for value in values] for name, values in columns.items()})

    def take(self, rows: Sequence[int]) -> Any:
        return [self.data[row] for row in rows]

    def table(self, table: Any) -> Any:
        columns = table.to_pydict()
        return [dict(zip(columns, values)) for values in zip(*columns.values())]


def _inside(page: Mapping[str, Any], path: str) -> Any:
    value: Any = page
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
