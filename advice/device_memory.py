"""Read what was on a process's devices: JAX's device memory profile, or its live arrays.

The profile is the gzipped pprof file of `jax.profiler.save_device_memory_profile`: buffers and
executables by the Python stack that made them. The list of live arrays is the JSON file that
`xlagraph.jax.resident().write(FILE)` makes.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from xlagraph.hlo.metadata import is_installed
from xlagraph.ingest.carriers.wire_format import Field, UnfitWireFormat, fields

_BUFFER: Final = "buffer"
_SAMPLE, _LOCATION, _FUNCTION, _TEXT = 2, 4, 5, 6
"""Numbers of the fields of a Profile message."""


class UnfitSnapshot(ValueError):
    """Raised if a file is neither a device memory profile nor a list of live arrays."""


@dataclass(frozen=True, slots=True)
class Resident:
    """Buffers of one origin on one device, or executables."""

    device: str | None
    """A device such as ``cpu:0``; None for executables, which JAX assigns to no device."""
    kind: str
    """``buffer`` or ``executable``."""
    bytes: int
    count: int
    function: str | None
    """Innermost function of the user's code, of which file and line are, too."""
    file: str | None
    line: int | None
    shape: str | None = None
    """Shape on one device, such as ``f32[8,128]``; None in a device memory profile."""

    @property
    def is_buffer(self) -> bool:
        """True for arrays, False for executables."""
        return self.kind == _BUFFER


def read_snapshot(file: Path) -> tuple[Resident, ...]:
    """Return what a file says was resident, sorted by bytes, descending.

    Raises OSError, and UnfitSnapshot for any other file.
    """
    content = file.read_bytes()
    try:
        if content[:1] == b"[":
            found = [Resident(**row) for row in json.loads(content)]
        else:
            if content[:2] == b"\x1f\x8b":
                content = gzip.decompress(content)
            found = list(_Profile(content).residents())
    except (
        UnfitWireFormat,
        zlib.error,
        EOFError,
        OSError,
        TypeError,
        LookupError,
        ValueError,
    ) as e:
        raise UnfitSnapshot(
            f"{file}: expected a profile of jax.profiler.save_device_memory_profile, or a file of"
            f" xlagraph.jax.resident().write: {e}"
        ) from None
    return tuple(sorted(found, key=lambda each: (-each.bytes, each.kind, each.file or "")))


def by_origin(residents: Sequence[Resident]) -> tuple[Resident, ...]:
    """Return a row for each device, kind, line and shape, sorted by bytes, descending."""
    rows: dict[tuple[str | int | None, ...], Resident] = {}
    for each in residents:
        key = each.device, each.kind, each.function, each.file, each.line, each.shape
        former = rows.get(key)
        rows[key] = (
            each
            if former is None
            else replace(former, bytes=former.bytes + each.bytes, count=former.count + each.count)
        )
    return tuple(sorted(rows.values(), key=lambda each: (-each.bytes, each.kind, each.file or "")))


class _Frame(NamedTuple):
    function: str
    file: str
    line: int


class _Profile:
    """A pprof profile with the sample types `allocations` and `space`."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._file = BytesIO(content)
        by_number: dict[int, list[Field]] = {}
        for field in fields(self._file, 0, len(content)):
            by_number.setdefault(field.number, []).append(field)
        self._samples = by_number.get(_SAMPLE, [])
        self._texts = [self._bytes(each).decode() for each in by_number.get(_TEXT, [])]
        if "allocations" not in self._texts or "space" not in self._texts:
            raise UnfitSnapshot("it has no counts of allocations and space")
        self._functions = {
            number: (self._texts[name], self._texts[path])
            for number, name, path in (
                self._numbers(each, 1, 2, 4) for each in by_number.get(_FUNCTION, [])
            )
        }
        self._frames = dict(map(self._location, by_number.get(_LOCATION, [])))

    def residents(self) -> Iterator[Resident]:
        """Yield each sample that holds bytes or is an executable."""
        for sample in self._samples:
            values: list[int] = []
            locations: list[int] = []
            labels: dict[str, str] = {}
            for field in self._fields(sample):
                if field.number == 1:
                    locations += self._packed(field)
                elif field.number == 2:
                    values += self._packed(field)
                elif field.number == 3:
                    key, text = self._numbers(field, 1, 2)
                    labels[self._texts[key]] = self._texts[text]
            count, size_bytes = values
            frame = self._user_frame(locations)
            yield Resident(
                labels.get("device"),
                labels.get("kind", _BUFFER),
                size_bytes,
                count,
                *(frame or (None, None, None)),
            )

    def _user_frame(self, locations: Sequence[int]) -> _Frame | None:
        """Return the innermost frame outside of installed packages, else the innermost one."""
        frames = [frame for number in locations for frame in self._frames.get(number, ())]
        own = (frame for frame in frames if not is_installed(frame.file))
        return next(own, frames[0] if frames else None)

    def _location(self, field: Field) -> tuple[int, list[_Frame]]:
        (number,) = self._numbers(field, 1)
        frames = []
        for line in self._fields(field):
            if line.number == 4:
                function, at = self._numbers(line, 1, 2)
                frames.append(_Frame(*self._functions[function], at))
        return number, frames

    def _fields(self, field: Field) -> Iterator[Field]:
        return fields(self._file, field.start, field.length)

    def _numbers(self, field: Field, *numbers: int) -> list[int]:
        """Return varint fields of a message, 0 if absent."""
        found = {each.number: each.value or 0 for each in self._fields(field)}
        return [found.get(number, 0) for number in numbers]

    def _packed(self, field: Field) -> list[int]:
        """Return the numbers of a repeated field, packed or not."""
        if field.value is not None:
            return [field.value]
        numbers: list[int] = []
        number = shift = 0
        for byte in self._bytes(field):
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                numbers.append(number)
                number = shift = 0
        return numbers

    def _bytes(self, field: Field) -> bytes:
        return self._content[field.start : field.start + field.length]
