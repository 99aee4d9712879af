"""Find dumps, parse them, derive measures, and load the rows into a graph."""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.ingest.carriers.text.parser import parse_plan
    from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan
    from xlagraph.ingest.carriers.text.render import render_plan
    from xlagraph.ingest.carriers.text.text import DumpPart
    from xlagraph.ingest.compiled import ingest_compiled
    from xlagraph.ingest.error_message.explanation import Explanation, explain
    from xlagraph.ingest.error_message.failure import Failure
    from xlagraph.ingest.error_message.log_reader import ErrorLog, read_error_log
    from xlagraph.ingest.files.discovery import DumpFiles, FoundDumps, find_dumps
    from xlagraph.ingest.files.no_dumps import NoDumps, why_no_dumps
    from xlagraph.ingest.files.shards import Shard
    from xlagraph.ingest.load import ingest
    from xlagraph.ingest.model.plan import Plan
    from xlagraph.ingest.options import IngestOptions
    from xlagraph.ingest.package_versions.bisection import Bisection, bisect_versions
    from xlagraph.ingest.package_versions.installer import (
        Installer,
        environment_variables,
        find_installer,
    )
    from xlagraph.ingest.package_versions.package_range import PackageRange, parse_package_range
    from xlagraph.ingest.problems.errors import (
        ExtraMissing,
        FlagsUnusable,
        NoMemoryPlan,
        NotInstallable,
        ParseError,
        VersionUnknown,
    )
    from xlagraph.ingest.problems.problem import Problem
    from xlagraph.ingest.recording import (
        dump_folder_in_flags,
        dump_variables,
        new_dump_folder,
        recording_name,
        remove_unread_files,
        run_program,
    )
    from xlagraph.ingest.remote.addresses import is_address, without_credentials
    from xlagraph.ingest.summary import Disagreement, IngestSummary, Progress
    from xlagraph.ingest.watching import WatchSummary, watch

__all__ = [
    "Bisection",
    "Disagreement",
    "DumpFiles",
    "DumpPart",
    "ErrorLog",
    "Explanation",
    "ExtraMissing",
    "Failure",
    "FlagsUnusable",
    "FoundDumps",
    "IngestOptions",
    "IngestSummary",
    "Installer",
    "NoDumps",
    "NoMemoryPlan",
    "NotInstallable",
    "PackageRange",
    "ParseError",
    "Plan",
    "PrintedPlan",
    "Problem",
    "Progress",
    "Shard",
    "VersionUnknown",
    "WatchSummary",
    "bisect_versions",
    "dump_folder_in_flags",
    "dump_variables",
    "environment_variables",
    "explain",
    "find_dumps",
    "find_installer",
    "ingest",
    "ingest_compiled",
    "is_address",
    "new_dump_folder",
    "parse_package_range",
    "parse_plan",
    "read_error_log",
    "recording_name",
    "remove_unread_files",
    "render_plan",
    "run_program",
    "watch",
    "why_no_dumps",
    "without_credentials",
]

# Lazy: reading a text or a shape does not need pyarrow, which is slow to import.
__getattr__ = lazy_names(
    __name__,
    {
        "carriers.text.parser": ["parse_plan"],
        "carriers.text.printed_plan": ["PrintedPlan"],
        "model.plan": ["Plan"],
        "carriers.text.render": ["render_plan"],
        "carriers.text.text": ["DumpPart"],
        "compiled": ["ingest_compiled"],
        "error_message.explanation": ["Explanation", "explain"],
        "error_message.failure": ["Failure"],
        "error_message.log_reader": ["ErrorLog", "read_error_log"],
        "problems.errors": [
            "ExtraMissing",
            "FlagsUnusable",
            "NoMemoryPlan",
            "NotInstallable",
            "ParseError",
            "VersionUnknown",
        ],
        "files.discovery": ["DumpFiles", "FoundDumps", "find_dumps"],
        "files.no_dumps": ["NoDumps", "why_no_dumps"],
        "files.shards": ["Shard"],
        "load": ["ingest"],
        "options": ["IngestOptions"],
        "package_versions.bisection": ["Bisection", "bisect_versions"],
        "package_versions.installer": ["Installer", "environment_variables", "find_installer"],
        "package_versions.package_range": ["PackageRange", "parse_package_range"],
        "problems.problem": ["Problem"],
        "recording": [
            "dump_folder_in_flags",
            "dump_variables",
            "new_dump_folder",
            "recording_name",
            "remove_unread_files",
            "run_program",
        ],
        "remote.addresses": ["is_address", "without_credentials"],
        "summary": ["Disagreement", "IngestSummary", "Progress"],
        "watching": ["WatchSummary", "watch"],
    },
)
