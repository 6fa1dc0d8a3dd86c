"""Removes exact and near-duplicate pages, keeps the best copy, and proves every removal.

>>> import onecopy
>>> pages = [
...     {"id": 1, "text": "Nine pages told the same story, and one of them was kept."},
...     {"id": 2, "text": "NINE PAGES told the same story -- and one of them was kept!"},
...     {"id": 3, "text": "A lighthouse keeper wrote down the weather of every day."},
... ]
>>> found = onecopy.dedup(pages, quiet=True)
>>> [page["id"] for page in found.kept]
[1, 3]
>>> found.removed[0]["page"], found.removed[0]["winner"], found.removed[0]["kind"]
('2', '1', 'exact')
"""

from ._collection import Collection
from ._columnar import Rarity, keys, sketch, verdicts
from ._dedup import Deduplicated, dedup
from ._onecopy import ANSWER_VERSION, OnecopyError, __version__, methods
from ._pages import compare, extract
from ._refine import refine

__all__ = [
    "ANSWER_VERSION",
    "Collection",
    "Deduplicated",
    "OnecopyError",
    "Rarity",
    "__version__",
    "compare",
    "dedup",
    "extract",
    "keys",
    "methods",
    "refine",
    "sketch",
    "verdicts",
]
