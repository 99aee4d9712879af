"""Find dumps, parse them, derive measures, and load the rows into a graph."""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.ingest.carriers.text.parser import parse_plan
    from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan
    from xlagraph.ingest.carriers.text.render import render_plan
    from xlagraph.ingest.carriers.text.text import DumpPart
    from xlagraph.ingest.errors import (
        ExtraMissing,
        FlagsUnusable,
        NoMemoryPlan,
        NotInstallable,
        ParseError,
        Problem,
        VersionUnknown,
    )
    from xlagraph.ingest.files.addresses import is_address, without_credentials
    from xlagraph.ingest.files.discovery import find_dumps
    from xlagraph.ingest.files.dump_files import DumpFiles, FoundDumps
    from xlagraph.ingest.files.no_dumps import NoDumps, why_no_dumps
    from xlagraph.ingest.loading.compiled import ingest_compiled
    from xlagraph.ingest.loading.load import ingest
    from xlagraph.ingest.loading.summary import Disagreement, IngestSummary, Progress
    from xlagraph.ingest.loading.watching import WatchSummary, watch
    from xlagraph.ingest.options import IngestOptions, Shard
    from xlagraph.ingest.plan import Plan

__all__ = [
    "Disagreement",
    "DumpFiles",
    "DumpPart",
    "ExtraMissing",
    "FlagsUnusable",
    "FoundDumps",
    "IngestOptions",
    "IngestSummary",
    "NoDumps",
    "NoMemoryPlan",
    "NotInstallable",
    "ParseError",
    "Plan",
    "PrintedPlan",
    "Problem",
    "Progress",
    "Shard",
    "VersionUnknown",
    "WatchSummary",
    "find_dumps",
    "ingest",
    "ingest_compiled",
    "is_address",
    "parse_plan",
    "render_plan",
    "watch",
    "why_no_dumps",
    "without_credentials",
]

# Lazy: reading a text or a shape does not need pyarrow, which is slow to import.
__getattr__ = lazy_names(__name__)
