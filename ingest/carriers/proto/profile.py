"""Find the executables in a folder's profiles.

    XSpace { planes = 1 }           HOST.xplane.pb, one for each host
    XPlane { name = 2, lines = 3, event_metadata = 4, stat_metadata = 5 }

The plane ``/host:metadata`` names each executable of the process, such as ``jit_f(8)``, and has
its HloProto in a stat. The planes before it contain events, which are skipped.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from xlagraph.hlo.descriptor_sets import missing_protobuf
from xlagraph.ingest.carriers.carrier import Carrier, Need, Part, Source
from xlagraph.ingest.carriers.file_bytes import UNREADABLE, open_unpacked
from xlagraph.ingest.carriers.proto.message_files import holds_assignment
from xlagraph.ingest.carriers.proto.read_messages import HLO, read_proto_dump
from xlagraph.ingest.carriers.wire_format import Field, UnfitWireFormat, fields
from xlagraph.ingest.errors import Problem, readable
from xlagraph.runtime.files import without_packing

_PROFILE: Final = "profile"
_ENDING: Final = ".xplane.pb"
_METADATA_PLANE: Final = b"/host:metadata"
_STAT: Final = b"Hlo Proto"

_PLANES: Final = 1
_PLANE_NAME, _EVENTS, _STATS = 2, 4, 5
_KEY, _VALUE = 1, 2
_EVENT_NAME, _EVENT_STATS = 2, 5
_STAT_NAME: Final = 2
_STAT_KIND, _STAT_BYTES = 1, 6


class _Executable(NamedTuple):
    name: str
    """Name with the module's number: ``jit_f(8)``."""
    start: int
    length: int


def _find(folder: Path, names: Sequence[str], problems: list[Problem]) -> list[Source]:
    """Return the executables in a folder's profiles.

    If several hosts have profiles, each name begins with the host's name.
    """
    profiles = [name for name in names if name.endswith(_ENDING)]
    sources = []
    for name in profiles:
        path = folder / name
        host = f"{name.removesuffix(_ENDING)}/" if len(profiles) > 1 else ""
        try:
            found = _executables(path)
        except UnfitWireFormat as error:
            message = f"expected a whole profile, but {error}"
            problems.append(Problem(readable(path), None, message))
            continue
        except UNREADABLE as error:
            reason = getattr(error, "strerror", None) or str(error)
            problems.append(Problem(readable(path), None, f"cannot be read: {reason}"))
            continue
        sources += [
            Source(_PROFILE, host + each.name, (Part(HLO, path, each.start, each.length),))
            for each in found
        ]
    return sources


def _why_none(path: Path) -> str | None:
    """Return why a profile contains no compilation; None for other file names."""
    if not path.name.endswith(_ENDING):
        return None
    return (
        "contains no executable with a buffer assignment: profile a process that has compiled, "
        "with jax.profiler.trace"
    )


def _executables(path: Path) -> list[_Executable]:
    with open_unpacked(path) as (file, size):
        by_name: dict[str, _Executable] = {}
        for plane in fields(file, 0, size):
            if plane.number == _PLANES and _plane_name(file, plane) == _METADATA_PLANE:
                for executable in _in_plane(file, plane):
                    by_name.setdefault(executable.name, executable)
        return [
            each for each in by_name.values() if holds_assignment(file, each.start, each.length)
        ]


def _plane_name(file: BinaryIO, plane: Field) -> bytes | None:
    for field in fields(file, plane.start, plane.length):
        if field.number == _PLANE_NAME:
            return _content(file, field)
        if field.number > _PLANE_NAME:  # fields are in the order of their numbers
            return None
    return None


def _in_plane(file: BinaryIO, plane: Field) -> Iterator[_Executable]:
    parts = list(fields(file, plane.start, plane.length))
    kinds = {
        key
        for part in parts
        if part.number == _STATS
        for key, value in [_entry(file, part)]
        if value is not None and _named(file, value, _STAT_NAME) == _STAT
    }
    for part in parts:
        if part.number != _EVENTS:
            continue
        _, event = _entry(file, part)
        if event is None:
            continue
        name = _named(file, event, _EVENT_NAME) or b""
        for stat in fields(file, event.start, event.length):
            if stat.number == _EVENT_STATS:
                inner = {field.number: field for field in fields(file, stat.start, stat.length)}
                kind = inner.get(_STAT_KIND)
                content = inner.get(_STAT_BYTES)
                if content is not None and (kind.value if kind else 0) in kinds:
                    text = name.decode("utf-8", "backslashreplace")
                    yield _Executable(text, content.start, content.length)


def _entry(file: BinaryIO, entry: Field) -> tuple[int, Field | None]:
    """Return the key and the value of a map entry."""
    inner = {field.number: field for field in fields(file, entry.start, entry.length)}
    key = inner.get(_KEY)
    return (key.value or 0) if key else 0, inner.get(_VALUE)


def _named(file: BinaryIO, message: Field, number: int) -> bytes | None:
    for field in fields(file, message.start, message.length):
        if field.number == number:
            return _content(file, field)
    return None


def _content(file: BinaryIO, field: Field) -> bytes:
    file.seek(field.start)
    return file.read(field.length)


def _needs(name: str) -> Need:
    return Need.ALL if without_packing(name).endswith(_ENDING) else Need.NOTHING


PROFILE_CARRIER: Final = Carrier(
    _PROFILE,
    _find,
    read_proto_dump,
    missing_protobuf,
    _why_none,
    example=f"…{_ENDING}",
    endings=(_ENDING,),
    needs=_needs,
)
