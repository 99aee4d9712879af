"""Record the dumps of a program, and find the version of a package that changed its memory."""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.recording.bisection import Bisection, bisect_versions
    from xlagraph.recording.installer import Installer, environment_variables, find_installer
    from xlagraph.recording.package_range import PackageRange, parse_package_range
    from xlagraph.recording.recording import (
        dump_folder_in_flags,
        dump_variables,
        new_dump_folder,
        recording_name,
        remove_unread_files,
        run_program,
    )

__all__ = [
    "Bisection",
    "Installer",
    "PackageRange",
    "bisect_versions",
    "dump_folder_in_flags",
    "dump_variables",
    "environment_variables",
    "find_installer",
    "new_dump_folder",
    "parse_package_range",
    "recording_name",
    "remove_unread_files",
    "run_program",
]

__getattr__ = lazy_names(
    __name__,
    {
        "bisection": ["Bisection", "bisect_versions"],
        "installer": ["Installer", "environment_variables", "find_installer"],
        "package_range": ["PackageRange", "parse_package_range"],
        "recording": [
            "dump_folder_in_flags",
            "dump_variables",
            "new_dump_folder",
            "recording_name",
            "remove_unread_files",
            "run_program",
        ],
    },
)
