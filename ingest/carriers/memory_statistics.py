"""Read what JAX's `memory_analysis` says of a compilation, stored next to its dump.

STAGE-memory-statistics.json      {"argument_size_in_bytes": 18432, "temp_size_in_bytes": 2056}

`xlagraph record` writes the file when a process ends (`recording/sitecustomize.py`); the part of
a compilation in memory has the same content.
"""

import json
from typing import Final

from xlagraph.ingest.carriers.carrier import Contents
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.plan import Statistic

STATISTICS: Final = "memory statistics"
STATISTICS_ENDING: Final = "-memory-statistics.json"


def statistics_content(statistics: object) -> bytes:
    """Return the numbers of a `CompiledMemoryStats` of any version as JSON."""
    named = {name: getattr(statistics, name) for name in dir(statistics) if name[0] != "_"}
    return json.dumps({name: n for name, n in named.items() if type(n) is int}).encode()


def take_statistics(contents: Contents) -> tuple[Statistic, ...]:
    """Return the statistics of a source, sorted by name; empty if it has none.

    A file that is damaged is added to the problems of the contents.
    """
    content, path = contents.take(STATISTICS), contents.source.path(STATISTICS)
    if content is None or path is None:
        return ()
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(type(n) is int for n in found.values()):
        message = "expected a JSON object with the numbers of JAX's memory_analysis"
        contents.problems.append(Problem(readable(path), None, message, left_out=False))
        return ()
    return tuple(Statistic(str(name), number) for name, number in sorted(found.items()))
