"""Pieces of HLO text: shapes, long tuples, bodies of fusions, stack tables."""

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

FRAMES = (  # function, file, line, number of the caller's frame; from 1
    ("<module>", "/src/train.py", 12, 0),
    ("make_train_step.<locals>.train_step", "/src/train.py", 31, 1),
    ("loss_fn", "/src/model/loss.py", 14, 2),
    ("forward", "/src/model/net.py", 85, 3),
    ("block", "/src/model/net.py", 58, 4),
    ("layernorm", "/src/model/net.py", 22, 5),
    ("attention", "/src/model/net.py", 63, 5),
    ("attention.<locals>.<lambda>", "/src/model/net.py", 65, 7),
    ("mlp", "/src/model/net.py", 71, 5),
    ("cross_entropy", "/src/model/loss.py", 19, 3),
    ("adam", "/src/train.py", 33, 2),
    ("adam.<locals>.<lambda>", "/src/optim/adam.py", 46, 11),
)
LAYERNORM, ATTENTION, LAMBDA, MLP, LOSS, ADAM = 6, 7, 8, 9, 10, 12


class Fusion(NamedTuple):
    """The parts of a fused computation, written later."""

    number: int
    operands: tuple[str, ...]
    shape: str
    reducer: str | None
    """Name of the computation that a reduction in it applies."""


def separated(parts: Iterable[str]) -> str:
    """Join with commas; every fifth part is marked like in long tuples of XLA."""
    return ", ".join(_marked(parts))


def _marked(parts: Iterable[str]) -> Iterator[str]:
    for index, part in enumerate(parts):
        yield f"/*index={index}*/{part}" if index and index % 5 == 0 else part


def fused_computation(fusion: Fusion) -> str:
    """Write the body of a fused computation: its parameters, a product, its root."""
    n = fusion.number
    names = [f"param_{index}.{n}" for index in range(len(fusion.operands))]
    signature = ", ".join(
        [f"{name}: {bare(shape)}" for name, shape in zip(names, fusion.operands, strict=True)]
    )
    lines = [f"%fused_computation.{n} ({signature}) -> {bare(fusion.shape)} {{\n"]
    for index, (name, shape) in enumerate(zip(names, fusion.operands, strict=True)):
        lines.append(f"  %{name} = {shape} parameter({index})\n")
    lines.append(f"  %mul.{n} = {fusion.operands[0]} multiply(%{names[0]}, %{names[-1]})\n")
    if fusion.reducer:
        lines.append(f"  %zero.{n} = f32[] constant(0)\n")
        root = f"reduce(%mul.{n}, %zero.{n}), dimensions={{1}}, to_apply=%{fusion.reducer}"
    else:
        root = f"add(%mul.{n}, %{names[0]})"
    lines.append(f"  ROOT %root.{n} = {fusion.shape} {root}\n}}\n\n")
    return "".join(lines)


def stack_tables() -> str:
    """Write the tables that ``stack_frame_id`` points into."""
    files = sorted({file for _, file, _, _ in FRAMES})
    numbered = [f'{number} "{file}"' for number, file in enumerate(files, 1)]
    functions = [f'{number} "{frame[0]}"' for number, frame in enumerate(FRAMES, 1)]
    locations = [
        f"{number} {{file_name_id={files.index(file) + 1} function_name_id={number} "
        f"line={line} end_line={line} column=8 end_column=40}}"
        for number, (_, file, line, _) in enumerate(FRAMES, 1)
    ]
    frames = [
        f"{number} {{file_location_id={number} parent_frame_id={caller + 1}}}"
        for number, (*_, caller) in enumerate(FRAMES, 1)
    ]
    tables = zip(
        ("FileNames", "FunctionNames", "FileLocations", "StackFrames"),
        (numbered, functions, locations, frames),
        strict=True,
    )
    return "\n\n".join("\n".join([title, *lines]) for title, lines in tables) + "\n\n\n"


def bare(shape: str) -> str:
    """Return a shape without layouts."""
    parts = shape.split("{")
    return parts[0] + "".join([part.partition("}")[2] for part in parts[1:]])


_ARRAY_BYTES = {"f32": 4, "s32": 4, "s8": 1, "bf16": 2, "pred": 1}


def array_bytes(shape: str) -> int:
    """Return the size of an array, or of a tuple's pointer table."""
    if shape.startswith("("):
        return 8 * (bare(shape).count("],") + 1)
    dtype, _, rest = shape.partition("[")
    dimensions = rest.partition("]")[0]
    return _ARRAY_BYTES[dtype] * prod([int(part) for part in dimensions.split(",") if part])


def array(dtype: str, *dimensions: int) -> str:
    """Return the shape of a dense array, largest stride first."""
    sizes = ",".join(map(str, dimensions))
    order = ",".join(map(str, reversed(range(len(dimensions)))))
    return f"{dtype}[{sizes}]" + (f"{{{order}}}" if dimensions else "")
