"""Find the compilations below a folder, with their runs and input formats."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from xlagraph.hlo.grouping import grouped
from xlagraph.ingest.carriers.carrier import Carrier, Part, Source
from xlagraph.ingest.carriers.file_names import dump_name
from xlagraph.ingest.carriers.proto.message_files import PROTO_CARRIER
from xlagraph.ingest.carriers.proto.process import PROCESS_CARRIER
from xlagraph.ingest.carriers.proto.profile import PROFILE_CARRIER
from xlagraph.ingest.carriers.text.read import TEXT_CARRIER
from xlagraph.ingest.errors import Problem, readable
from xlagraph.ingest.files.dump_files import DumpFiles, DumpOrigin, FoundDumps, Listing, origin_of
from xlagraph.runtime.files import ARCHIVE_ENDINGS, PACKED_SUFFIXES

CARRIERS: Final[tuple[Carrier, ...]] = (
    TEXT_CARRIER,
    PROTO_CARRIER,
    PROFILE_CARRIER,
    PROCESS_CARRIER,
)
"""All input formats; the first that has a compilation is read, the others fill gaps."""
ENDINGS: Final = tuple(
    ending + packed
    for each in CARRIERS
    for ending in each.endings
    for packed in ("", *PACKED_SUFFIXES)
)
"""Endings of the names of all files that an input format may read."""
_ARCHIVE: Final = "is an archive in a folder, which is not read; name it: xlagraph ingest FILE"
_IN_PROFILES: Final = ("plugins", "profile")
"""Folders that contain profiles, each in a folder named after its time."""

# vm_14032
_HOST_AND_PROCESS: Final = re.compile(r".*_\d+", re.DOTALL)


def find_dumps(
    path: Path,
    run: str | None = None,
    *,
    origin: DumpOrigin | None = None,
    listing: Listing | None = None,
) -> FoundDumps:
    """Return the dumps below a folder, or in a single file.

    Each folder that contains dumps is a run, named by its path below ``path``, or by the name of
    ``path`` if it is that folder; ``run`` gives a name to a single run. Sub-folders that XLA
    creates (``NAME/HOST_PID/`` with the NAME of the module) belong to the run above. Links to
    folders below ``path`` are not followed; a file that is found twice counts once. ``origin``
    replaces a temporary folder in the names and paths of runs. ``listing`` replaces the file
    system: it has the names of files that are not fetched yet.
    """
    problems: list[Problem] = []
    gaps: list[Path] = []
    sources: list[_UnnamedDump] = []
    is_file = path.is_file() if listing is None else listing.holds(path)
    root = path.parent if is_file else path
    folders = _folders(root, problems, gaps) if listing is None else listing.folders(root)
    for folder, names in folders:
        sources.extend(_sources(folder, names, problems))
        if is_file:
            break
    sources = _distinct(sources)
    if is_file:
        wanted = os.path.realpath(path)
        sources = [source for source in sources if wanted in source.real_paths]
        about = {readable(path)} if sources else {readable(path), readable(root)}
        problems = [problem for problem in problems if problem.file in about]
        if not sources and not problems:
            problems.append(Problem(readable(path), None, _why_none(path)))

    dumps = _with_keys(root, sources, run, origin or origin_of(root), listing)
    run_paths = {dump.run_path for dump in dumps}
    if run is not None and len(run_paths) > 1:
        message = f"contains {len(run_paths)} runs; a name can be given to a single run only"
        problems.append(Problem(readable(path), None, message))
        dumps = []
    gap_paths = [os.path.realpath(gap) for gap in gaps]
    searched = {
        run_path
        for run_path in run_paths
        if not is_file and not any(_is_within(gap, run_path) for gap in gap_paths)
    }
    return FoundDumps(
        tuple(sorted(dumps, key=lambda dump: (dump.run, dump.key))),
        tuple(problems),
        frozenset(searched),
    )


class _UnnamedDump(NamedTuple):
    """A dump before its run is known."""

    folder: Path
    stem: str
    sources: tuple[Source, ...]

    @property
    def first(self) -> Part:
        """The main part of the dump."""
        return self.sources[0].parts[0]

    @property
    def real_paths(self) -> set[str]:
        """The real path of the main file of each source."""
        return {os.path.realpath(source.parts[0].path) for source in self.sources}


def _folders(
    root: Path, problems: list[Problem], gaps: list[Path]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield each folder with the names of its files; both sorted, the root first."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        names: list[str] = []
        inner: list[Path] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(folder / entry.name)
                    elif _is_file(entry):
                        names.append(entry.name)
                    elif any(each.is_dump(entry.name) for each in CARRIERS):
                        problems.append(_no_file(folder, entry))
        except OSError as error:
            problems.append(Problem(readable(folder), None, f"cannot be read: {error.strerror}"))
            gaps.append(folder)
        problems.extend(
            Problem(readable(folder / name), None, _ARCHIVE, left_out=False)
            for name in sorted(names)
            if name.endswith(ARCHIVE_ENDINGS)
        )
        yield folder, sorted(names)
        waiting.extend(sorted(inner, reverse=True))


def _no_file(folder: Path, entry: os.DirEntry[str]) -> Problem:
    """Return the problem with an entry that is named like a dump but is not a file."""
    reason = "the target of the link is not a file" if entry.is_symlink() else "it is not a file"
    return Problem(readable(folder / entry.name), None, reason)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a cycle of links, or a folder without permission
        return False


def _sources(folder: Path, names: Sequence[str], problems: list[Problem]) -> list[_UnnamedDump]:
    """Return the compilations of one folder, each with its sources in all input formats.

    A problem names each input format whose package is missing, if a compilation has no other.
    """
    by_stem: dict[str, list[Source]] = {}
    for carrier in CARRIERS:
        found = carrier.find(folder, names, problems)
        missing = carrier.missing() if found else None
        if missing is not None:
            count = sum(source.stem not in by_stem for source in found)
            if count:
                what = "1 compilation" if count == 1 else f"{count} compilations"
                verb = "needs" if count == 1 else "need"
                message = f"has {what} ({carrier.name}) that {verb}: {missing}"
                problems.append(Problem(readable(folder), None, message))
            continue
        for source in found:
            by_stem.setdefault(source.stem, []).append(source)
    return [_UnnamedDump(folder, stem, tuple(sources)) for stem, sources in by_stem.items()]


def _why_none(path: Path) -> str:
    for carrier in CARRIERS:
        if (why := carrier.why_none(path)) is not None:
            return why
    *names, last = [each.example for each in CARRIERS if each.example is not None]
    return (
        f"is not a dump: it is not called {', '.join(names)} or {last}, "
        "nor does it begin with `BufferAssignment:`"
    )


def _distinct(sources: Iterable[_UnnamedDump]) -> list[_UnnamedDump]:
    """Return each file once, by its real path rather than by a link to it."""
    real_folders: dict[Path, str] = {}
    by_file: dict[tuple[str, int], _UnnamedDump] = {}
    for source in sources:
        path = source.first.path
        is_link = path.is_symlink()
        if source.folder not in real_folders:
            real_folders[source.folder] = os.path.realpath(source.folder)
        file = os.path.realpath(path) if is_link else f"{real_folders[source.folder]}/{path.name}"
        place = file, source.first.start
        if not is_link or place not in by_file:
            by_file[place] = source
    return list(by_file.values())


def _with_keys(
    root: Path,
    sources: Iterable[_UnnamedDump],
    run: str | None,
    origin: DumpOrigin,
    listing: Listing | None,
) -> list[DumpFiles]:
    """Return the dumps with their runs and keys."""
    own_name, real_root = origin
    by_place = grouped(((_run_parts(root, source), source.stem), source) for source in sources)

    dumps = []
    for (parts, stem), same in by_place.items():
        run_name = run if run is not None else _run_name(real_root, parts) or own_name
        for source in same:
            below = source.folder.relative_to(root).parts[len(parts) :]
            short = readable(f"{run_name}/{stem}")
            whole = readable("/".join((run_name, *below, stem)))
            key, other_key = (whole, short) if len(same) > 1 else (short, whole)
            dumps.append(
                DumpFiles(
                    run=run_name,
                    run_path=readable("/".join((real_root.rstrip("/"), *parts)) or "/"),
                    stem=readable(stem),
                    key=key,
                    other_key=other_key if below else None,
                    name=dump_name(readable(stem)),
                    sources=source.sources,
                    size_bytes=_size_bytes(source, listing),
                )
            )
    return dumps


def _run_name(root: str, parts: tuple[str, ...]) -> str:
    """Return a run's name: its path below the root, without ``plugins/profile``."""
    root_parts = PurePosixPath(root).parts
    whole = (*root_parts, *parts)
    kept = [
        part
        for number, part in enumerate(parts, len(root_parts))
        if _IN_PROFILES not in (whole[number : number + 2], whole[number - 1 : number + 1])
    ]
    return readable("/".join(kept))


def _run_parts(root: Path, source: _UnnamedDump) -> tuple[str, ...]:
    """Return the path, below the root, of the folder of a dump's run."""
    parts = source.folder.relative_to(root).parts
    name = dump_name(readable(source.stem))
    if (
        parts
        and name.module_name is not None
        and _HOST_AND_PROCESS.fullmatch(parts[-1])
        and readable(source.folder.parent.name) in (name.module_name, name.module)
    ):
        return parts[:-2]
    return parts


def _size_bytes(source: _UnnamedDump, listing: Listing | None) -> int:
    size = 0
    for part in chain.from_iterable(each.parts for each in source.sources):
        try:
            if part.content is not None:
                size += len(part.content)
            elif part.length is not None:
                size += part.length
            elif listing is not None:
                size += listing.size_bytes(part.path)
            else:
                size += part.path.stat().st_size
        except OSError:  # removed meanwhile: reading it will fail
            continue
    return size


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
