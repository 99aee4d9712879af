"""Find canned queries by the words of a question."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from xlagraph.queries import Query

_WORD: Final = re.compile(r"[a-z]{3,}")
_QUESTION_WORDS: Final = frozenset(
    (
        "and",
        "are",
        "does",
        "for",
        "from",
        "how",
        "the",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
    )
)
"""Words that do not describe the subject of a question."""
_STEM_LETTERS: Final = 4
"""Letters of a word that are compared: donated and donation are the same."""
_HEADING_WEIGHT: Final = 3
"""Weight of a word of the title or question, against 1 for one of a column."""


def find_queries(about: str, catalogue: Mapping[str, Query]) -> list[Query]:
    """Return the queries that share words with a text, the best first.

    Rare words count more.
    """
    counts = {query.id: _stem_counts(query) for query in catalogue.values()}
    having = Counter(stem for stems in counts.values() for stem in stems)
    asked = _stems(about)

    def score(query: Query) -> float:
        found = counts[query.id]
        return sum(
            min(found[stem], _HEADING_WEIGHT) * math.log(1 + len(counts) / having[stem])
            for stem in asked
            if stem in found
        )

    scores = {query.id: score(query) for query in catalogue.values()}
    best = sorted(scores, key=lambda name: (-scores[name], name))
    return [catalogue[name] for name in best if scores[name] > 0]


def _stem_counts(query: Query) -> Counter[str]:
    counts = Counter({stem: 1 for column in query.columns for stem in _stems(column.description)})
    for stem in _stems(f"{query.id} {query.title} {query.answers}"):
        counts[stem] += _HEADING_WEIGHT
    return counts


def _stems(text: str) -> set[str]:
    words = set(_WORD.findall(text.lower())) - _QUESTION_WORDS
    return {word.replace("y", "i")[:_STEM_LETTERS] for word in words}
