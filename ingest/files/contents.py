"""Read a dump's files, and detect changes during the read."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from xlagraph.hlo.program import Program
from xlagraph.ingest.carriers.carrier import Carrier, Contents, Part
from xlagraph.ingest.carriers.file_bytes import read_bytes, start_of_large_file
from xlagraph.ingest.carriers.memory_statistics import take_statistics
from xlagraph.ingest.carriers.usage_report import usage_disagreements
from xlagraph.ingest.errors import Problem, UnreadableDump, readable
from xlagraph.ingest.files.discovery import CARRIERS
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.gaps import filled, has_gaps, is_same_plan
from xlagraph.ingest.plan import Plan
from xlagraph.runtime.files import UNPACKING_ERRORS

FileStates = tuple[tuple[int, int, int], ...]
"""Inode, size in bytes and time of change in ns of each file of a dump."""

_SHOWN_BYTES: Final = 60


_STARTS: Final = {part: start for carrier in CARRIERS for part, start in carrier.starts.items()}


@dataclass(frozen=True, slots=True)
class DumpContents:
    """The bytes of the files of one dump, unpacked."""

    sha256: str
    """Digest of all contents unpacked; independent of file names and packing."""
    size_bytes: int
    sources: tuple[Contents, ...]
    """Contents of each source of the dump, in the same order."""

    @property
    def are_texts(self) -> bool:
        """True if the preferred input format prints instructions."""
        return _carrier(self.sources[0]).prints_instructions

    @property
    def problems(self) -> list[Problem]:
        """Problems with optional parts, without which the compilation could be read."""
        return [problem for source in self.sources for problem in source.problems]


def file_states(files: DumpFiles) -> FileStates:
    """Return the states of all files of a dump; raises `UnreadableDump` if one is missing."""
    return tuple(_version(part) for source in files.sources for part in source.parts)


def read_dump(files: DumpFiles, expected: FileStates | None = None) -> DumpContents:
    """Read all files of a dump.

    Raises `UnreadableDump` if one cannot be read, changes meanwhile, or is not in the
    expected state.
    """
    digest = hashlib.sha256()
    size_bytes = 0
    read = []
    parts = [part for source in files.sources for part in source.parts]
    before = expected or file_states(files)
    for source in files.sources:
        contents = Contents(source, {})
        for part in source.parts:
            content = contents.bytes_by_part[part.name] = _read(part)
            digest.update(f"{part.name} {len(content)}\n".encode())
            digest.update(content)
            size_bytes += len(content)
        read.append(contents)
    for part, version in zip(parts, before, strict=True):
        if _version(part) != version:
            message = "changed while it was read; ingest it again once it is complete"
            raise UnreadableDump(Problem(readable(part.path), None, message))
    return DumpContents(digest.hexdigest(), size_bytes, tuple(read))


def read_compilation(contents: DumpContents) -> tuple[Plan, Program]:
    """Return the plan and program of the preferred input format, with gaps filled from the others.

    Other input formats that cannot be used, and contradictions of a usage report, are added to the
    problems of the contents. Raises `ParseError` and `UnreadableDump`.
    """
    preferred, *others = contents.sources
    plan, program = _carrier(preferred).read(preferred)
    for other in others:
        if not has_gaps(plan, program):
            break
        try:
            found = _carrier(other).read(other)
        except UnreadableDump as error:
            preferred.problems.append(error.problem._replace(left_out=False))
            continue
        if not is_same_plan(plan, found[0]):
            file = readable(other.source.parts[0].path)
            message = "has another plan than the text of the same name, and is skipped"
            preferred.problems.append(Problem(file, None, message, left_out=False))
            continue
        if plan.live_ranges is not None:  # then problems of the other input format do not matter
            other.problems.clear()
        plan, program = filled(plan, program, *found)
    for source in contents.sources:
        preferred.problems.extend(usage_disagreements(source, plan))
    stated = [take_statistics(source) for source in contents.sources]
    return replace(plan, statistics=next(filter(None, stated), ())), program


def _carrier(contents: Contents) -> Carrier:
    (carrier,) = (each for each in CARRIERS if each.name == contents.source.carrier)
    return carrier


def _read(part: Part) -> bytes:
    if part.content is not None:
        return part.content
    try:
        known = _STARTS.get(part.name)
        start = None if known is None else start_of_large_file(part.path)
        if known is not None and start is not None and not known.is_start(start):
            shown = start[:_SHOWN_BYTES].decode(errors="replace")
            message = f"expected {known.expected}, found '{shown}…'"
            raise UnreadableDump(Problem(readable(part.path), None, message))
        return read_bytes(part.path, part.start, part.length)
    except UNPACKING_ERRORS as error:
        problem = Problem(readable(part.path), None, f"cannot be unpacked: {error}")
        raise UnreadableDump(problem) from None
    except OSError as error:
        raise _cannot_be_read(part.path, error) from None


def _version(part: Part) -> tuple[int, int, int]:
    """Return inode, size in bytes and time of change in ns, which identify a state of a file."""
    if part.content is not None:
        return 0, len(part.content), 0
    try:
        status = part.path.stat()
    except OSError as error:
        raise _cannot_be_read(part.path, error) from None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _cannot_be_read(path: Path, error: OSError) -> UnreadableDump:
    reason = error.strerror or str(error)
    return UnreadableDump(Problem(readable(path), None, f"cannot be read: {reason}"))
