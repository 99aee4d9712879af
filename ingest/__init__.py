"""From dumps to rows: find them, parse them, derive, load."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xlagraph.ingest.dump_files import DumpFiles, FoundDumps, find_dumps
    from xlagraph.ingest.dump_text import DumpPart
    from xlagraph.ingest.errors import ParseError
    from xlagraph.ingest.load import ingest
    from xlagraph.ingest.parser import parse_plan
    from xlagraph.ingest.plan import Plan
    from xlagraph.ingest.render import render_plan
    from xlagraph.ingest.shards import Shard
    from xlagraph.ingest.summary import Disagreement, IngestSummary, Problem, Progress

__all__ = [
    "Disagreement",
    "DumpFiles",
    "DumpPart",
    "FoundDumps",
    "IngestSummary",
    "ParseError",
    "Plan",
    "Problem",
    "Progress",
    "Shard",
    "find_dumps",
    "ingest",
    "parse_plan",
    "render_plan",
]

# What reads a text or a shape needs no pyarrow, which takes its time.
_MODULE_BY_NAME: Final = {
    "Disagreement": "summary",
    "DumpFiles": "dump_files",
    "DumpPart": "dump_text",
    "FoundDumps": "dump_files",
    "IngestSummary": "summary",
    "ParseError": "errors",
    "Plan": "plan",
    "Problem": "summary",
    "Progress": "summary",
    "Shard": "shards",
    "find_dumps": "dump_files",
    "ingest": "load",
    "parse_plan": "parser",
    "render_plan": "render",
}


def __getattr__(name: str) -> object:
    if name in _MODULE_BY_NAME:
        found: object = getattr(import_module(f"{__name__}.{_MODULE_BY_NAME[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
