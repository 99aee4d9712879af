"""The arrays of this process that are alive on its devices."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from xlagraph.advice.device_memory import Resident
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable
from xlagraph.runtime.files import whole_file

_TYPES: Final = {"bool": "pred", "float": "f", "int": "s", "uint": "u", "complex": "c"}
"""XLA's names of NumPy's types, by the name without its number of bits."""


@dataclass(frozen=True, slots=True, repr=False)
class ResidentArrays(Outlined):
    """Live arrays, a row for each array on each device, sorted by bytes, descending."""

    arrays: tuple[Resident, ...]
    shardings: tuple[str, ...]
    """Sharding of the whole array, aligned with the rows."""

    def bytes_by_device(self) -> dict[str, int]:
        """Return the bytes of the arrays on each device."""
        sums: dict[str, int] = {}
        for each in self.arrays:
            device = each.device or ""
            sums[device] = sums.get(device, 0) + each.bytes
        return sums

    def outline(self) -> Outline:
        """Return the sums of the devices and a row for each array."""
        sums = [f"{name}: {human_bytes(size)}" for name, size in self.bytes_by_device().items()]
        rows = [
            (each.device, each.shape, each.bytes, sharding)
            for each, sharding in zip(self.arrays, self.shardings, strict=True)
        ]
        columns = ("device", "shape", "bytes", "sharding")
        return Outline(
            f"live arrays: {', '.join(sums) or 'none'}",
            [OutlineTable(columns, rows)] if rows else (),
        )

    def write(self, file: str | Path) -> None:
        """Write the rows to a file for `xlagraph resident` and `check --snapshot`."""
        with whole_file(Path(file)) as unfinished:
            unfinished.write_text(json.dumps([asdict(each) for each in self.arrays]), "utf-8")


def resident() -> ResidentArrays:
    """Return the live arrays of this process, of all backends, without their executables."""
    import jax

    live_arrays: Callable[[], list[Any]] = jax.live_arrays

    rows = sorted(
        (row for array in live_arrays() for row in _shards(array)),
        key=lambda row: (-row[0].bytes, row[0].device or "", row[0].shape or ""),
    )
    return ResidentArrays(tuple(row for row, _ in rows), tuple(sharding for _, sharding in rows))


def _shards(array: Any) -> Iterator[tuple[Resident, str]]:  # noqa: ANN401 - an untyped jax.Array
    for shard in array.addressable_shards:
        data = shard.data
        shape = f"{_type_name(data.dtype.name)}[{','.join(map(str, data.shape))}]"
        device = f"{shard.device.platform}:{shard.device.id}"
        yield (
            Resident(device, "buffer", data.nbytes, 1, None, None, None, shape),
            str(array.sharding),
        )


def _type_name(name: str) -> str:
    """Return XLA's name of an element type: of ``bfloat16``, bf16."""
    if name.startswith("bfloat"):
        return f"bf{name.removeprefix('bfloat')}"
    word = name.rstrip("0123456789").partition("float")[0] or name.rstrip("0123456789")
    if name.startswith("float"):
        return f"f{name.removeprefix('float').replace('_', '')}"
    return _TYPES.get(word, word) + name.removeprefix(word)
