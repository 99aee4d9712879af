"""Find the text dumps in a folder and group the files of each compilation.

STAGE-buffer-assignment.txt           the allocation file: this is the dump
STAGE-buffer-assignment-values.txt    its companions (jaxlib 0.10 and later)
STAGE-live-range.txt
STAGE-memory-usage-report.txt         (jaxlib 0.4.35 and later)
STAGE.txt                             scheduled text of the module
….after_codegen.txt                   the same after code generation, of a TPU

Each can be packed (``.gz``, ``.xz``, ``.bz2`` or ``.zst``). A file with another name is a
dump if it begins with ``BufferAssignment:``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from xlagraph.hlo.grouping import grouped
from xlagraph.ingest.carriers.carrier import Need, Part, Source
from xlagraph.ingest.carriers.file_bytes import UNREADABLE, begins_like_a_dump, read_bytes
from xlagraph.ingest.carriers.file_names import split_timestamp
from xlagraph.ingest.carriers.usage_report import REPORT_TEXT, report_parts
from xlagraph.ingest.errors import Problem, readable
from xlagraph.runtime.files import without_packing

TEXT: Final = "text"
_FAR_FUTURE: Final = 10**30
# 1795217606140152.module_0000.after_optimizations.txt: a name by XLA tells the kind of file
_OF_XLA: Final = re.compile(r"(\d{10,}\.)?module_\d+\..*", re.DOTALL)


_STAGE: Final = "after_optimizations"


class _Kind(Enum):
    """The content of a dump file, with the ending of its name."""

    ALLOCATIONS = "-buffer-assignment.txt"
    VALUES = "-buffer-assignment-values.txt"
    LIVE_RANGE = "-live-range.txt"
    MODULE_TEXT = ".txt"


def _split(name: str) -> tuple[str, _Kind | None]:
    """Return the stem and the kind of a file; the kind is None if the content decides it."""
    name = without_packing(name)
    for kind in _Kind:
        if kind is not _Kind.MODULE_TEXT and name.endswith(kind.value):
            return name.removesuffix(kind.value), kind
    return name.removesuffix(".txt"), None


def is_dump(name: str) -> bool:
    """Return True for the name of an allocation file."""
    return _split(name)[1] is _Kind.ALLOCATIONS


def needs(name: str) -> Need:
    """Return whether the first line decides if a file is a dump."""
    is_unclear = without_packing(name).endswith(".txt") and _split(name)[1] is None
    return Need.START if is_unclear and not _OF_XLA.fullmatch(name) else Need.NOTHING


def find_text_dumps(folder: Path, names: Sequence[str], problems: list[Problem]) -> list[Source]:
    """Return a folder's dumps with their companions; report companions without a dump."""
    files: dict[_Kind, dict[str, Path]] = {kind: {} for kind in _Kind}
    # A file with the name of a dump takes precedence over one that only begins like a dump,
    # and NAME.txt over NAME.txt.gz.
    by_content: list[str] = []
    for name in names:
        stem, kind = _split(name)
        if kind is None:
            by_content.append(name)
        else:
            _take(files[kind], stem, folder / name, problems)
    for name in by_content:
        stem, _ = _split(name)
        if begins_like_a_dump(folder / name):
            _take(files[_Kind.ALLOCATIONS], stem, folder / name, problems)
        elif without_packing(name).endswith(".txt"):
            files[_Kind.MODULE_TEXT].setdefault(stem, folder / name)

    dumps = files[_Kind.ALLOCATIONS]
    module_texts = _module_texts(dumps, files[_Kind.MODULE_TEXT])
    for kind in (_Kind.VALUES, _Kind.LIVE_RANGE):
        for stem, path in files[kind].items():
            if stem not in dumps:
                missing = readable(stem + _Kind.ALLOCATIONS.value)
                problems.append(
                    Problem(readable(path), None, f"its allocation file {missing} is not found")
                )
    companions = (
        ("values", files[_Kind.VALUES]),
        ("live range", files[_Kind.LIVE_RANGE]),
        ("module text", module_texts),
        ("code text", _code_texts(dumps, files[_Kind.MODULE_TEXT])),
    )
    reports = report_parts(folder, names, REPORT_TEXT)
    return [
        Source(
            TEXT,
            stem,
            (
                Part("allocations", path),
                *[Part(name, paths[stem]) for name, paths in companions if stem in paths],
                *reports.get(stem, ()),
            ),
        )
        for stem, path in dumps.items()
    ]


def _code_texts(dumps: Iterable[str], texts: Mapping[str, Path]) -> dict[str, Path]:
    """Return the text after code generation of each dump that has one."""
    stems = {stem: f"{stem.removesuffix(_STAGE)}after_codegen" for stem in dumps}
    return {stem: texts[code] for stem, code in stems.items() if code in texts}


def _take(paths: dict[str, Path], stem: str, path: Path, problems: list[Problem]) -> None:
    """Record a file under its stem; report a second one if its content differs."""
    first = paths.setdefault(stem, path)
    if first is not path and not _have_same_content(first, path):
        message = f"another file of the same stem is read instead: {readable(first.name)}"
        problems.append(Problem(readable(path), None, message))


def _have_same_content(first: Path, second: Path) -> bool:
    try:
        return read_bytes(first) == read_bytes(second)
    except UNREADABLE:
        return False


def _module_texts(dumps: Iterable[str], texts: Mapping[str, Path]) -> dict[str, Path]:
    """Return the module text of each dump: the same stem, except for the timestamp.

    TensorFlow 2.2 to 2.8 can put a different timestamp before each. A dump without a text of
    the same stem gets the text with the nearest timestamp, or the latest one if the dump has
    no timestamp.
    """
    found = {stem: texts[stem] for stem in dumps if stem in texts}
    alone = grouped((split_timestamp(stem)[1], stem) for stem in texts if stem not in found)
    pairs = []
    for dump in dumps:
        if dump not in found:
            timestamp, rest = split_timestamp(dump)
            for text in alone.get(rest, ()):
                distance = abs(split_timestamp(text)[0] - (timestamp or _FAR_FUTURE))
                pairs.append((distance, dump, text))
    taken: set[str] = set()
    for _, dump, text in sorted(pairs):
        if dump not in found and text not in taken:
            found[dump] = texts[text]
            taken.add(text)
    return found
