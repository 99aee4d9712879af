"""Find the protobuf dumps of compilations in a folder.

STAGE.hlo.pb                    only stages with a buffer assignment
MODULE(ID).hlo_proto.pb         written by XProf from a profile
STAGE-memory-usage-report.pb    next to them

Each can be packed (``.gz``, ``.xz``, ``.bz2`` or ``.zst``). XLA dumps a module at
several stages; only the last one has the assignment, and the others are skipped.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from xlagraph.hlo.descriptor_sets import missing_protobuf
from xlagraph.ingest.carriers.carrier import Carrier, Part, Source, Start
from xlagraph.ingest.carriers.file_bytes import UNREADABLE, open_unpacked
from xlagraph.ingest.carriers.proto.read_messages import HLO, read_proto_dump
from xlagraph.ingest.carriers.usage_report import REPORT_PROTO, report_parts
from xlagraph.ingest.carriers.wire_format import UnfitWireFormat, fields
from xlagraph.ingest.errors import Problem, readable
from xlagraph.runtime.files import without_packing

PROTO: Final = "proto"
_OF_MODULES: Final = ".hlo.pb"
_OF_XPROF: Final = ".hlo_proto.pb"
_LAST_STAGE: Final = "after_optimizations"
_ASSIGNMENT: Final = 3
"""Number of the field ``buffer_assignment`` of an HloProto."""


def _find(folder: Path, names: Sequence[str], problems: list[Problem]) -> list[Source]:
    """Return the compilations in the protobuf dumps of a folder; NAME before NAME.gz."""
    found: dict[str, Path] = {}
    for name in names:
        stem = _stem(name)
        if stem is None:
            continue
        path = folder / name
        if not _is_compilation(path, stem):
            continue
        if found.setdefault(stem, path) is not path:
            message = f"another file of the same stem is read instead: {readable(found[stem].name)}"
            problems.append(Problem(readable(path), None, message))
    reports = report_parts(folder, names, REPORT_PROTO)
    return [
        Source(PROTO, stem, (Part(HLO, path), *reports.get(stem, ())))
        for stem, path in found.items()
    ]


def _stem(name: str) -> str | None:
    unpacked = without_packing(name)
    for ending in (_OF_MODULES, _OF_XPROF):
        if unpacked.endswith(ending):
            return unpacked.removesuffix(ending)
    return None


def _is_compilation(path: Path, stem: str) -> bool:
    """Return whether a file has an assignment, or is empty or damaged but named like a dump."""
    try:
        with open_unpacked(path) as (file, size):
            is_empty = not file.read(1)
            if not is_empty:
                return holds_assignment(file, 0, size)
    except (UnfitWireFormat, *UNREADABLE):
        pass
    return stem.endswith(_LAST_STAGE) or without_packing(path.name).endswith(_OF_XPROF)


def holds_assignment(file: BinaryIO, start: int, length: int | None) -> bool:
    """Return whether the HloProto in a range of a file has a buffer assignment."""
    return any(field.number == _ASSIGNMENT for field in list(fields(file, start, length)))


def _why_none(path: Path) -> str | None:
    """Return why a file named like a dump contains no compilation; None for other names."""
    if path.name.endswith(".riegeli"):
        return (
            "is a Riegeli file, which is not read; dump text or protobuf instead: "
            "--xla_dump_hlo_as_text or --xla_dump_hlo_as_proto"
        )
    if _stem(path.name) is None:
        return None
    return (
        "contains a module without a buffer assignment; XLA dumps it only at the last stage: "
        "…after_optimizations.hlo.pb"
    )


PROTO_CARRIER: Final = Carrier(
    PROTO,
    _find,
    read_proto_dump,
    missing_protobuf,
    _why_none,
    example="…after_optimizations.hlo.pb",
    endings=(".pb",),
    # tags of `hlo_module` and `buffer_assignment`, the fields of an HloProto
    starts={HLO: Start(lambda start: start.startswith((b"\n", b"\x1a")), "an HloProto")},
)
