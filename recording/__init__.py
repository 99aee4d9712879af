"""Record a program's dumps, and find the version of a package that changed its memory."""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.recording.bisection import (
        Bisection,
        PackageRange,
        bisect_versions,
        parse_package_range,
    )
    from xlagraph.recording.installer import Installer, environment_variables, find_installer
    from xlagraph.recording.process_dumps import (
        OverwrittenDumps,
        ProcessDumps,
        is_of_process,
        modules_from_cache,
        move_up,
        recorded_processes,
        remove_descriptions,
        temporary_dump_folder,
        why_nothing_was_recorded,
    )
    from xlagraph.recording.recording import (
        dump_folder_in_flags,
        dump_variables,
        new_dump_folder,
        process_variables,
        recording_name,
        remove_unread_files,
        run_program,
    )

__all__ = [
    "Bisection",
    "Installer",
    "OverwrittenDumps",
    "PackageRange",
    "ProcessDumps",
    "bisect_versions",
    "dump_folder_in_flags",
    "dump_variables",
    "environment_variables",
    "find_installer",
    "is_of_process",
    "modules_from_cache",
    "move_up",
    "new_dump_folder",
    "parse_package_range",
    "process_variables",
    "recorded_processes",
    "recording_name",
    "remove_descriptions",
    "remove_unread_files",
    "run_program",
    "temporary_dump_folder",
    "why_nothing_was_recorded",
]

__getattr__ = lazy_names(__name__)
