"""From dumps to rows: find them, parse them, derive, load."""

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
