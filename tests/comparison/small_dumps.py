"""Dumps of a parameter or a few inputs, and of values in one temporary allocation."""

from math import prod

from tests.tiny_dumps import tiny_dump

PARAMETER = "0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}"


def temporaries(size: int, values: str, *, parameter: str = PARAMETER) -> str:
    """Write a dump with a parameter, and values in a single temporary allocation."""
    steps = len(values.strip().splitlines()) + 1
    x = f"0 | x | f32[16]{{0}} | 0 | 64 | 0-{steps} | parameter(0) | x"
    return tiny_dump(f"{parameter}\n1 | {size} | preallocated-temp", f"{x}\n{values}")


def arguments(inputs: str, size: int, values: str) -> str:
    """Write a dump with named inputs, `x` first, and values in allocation `t` for temporaries."""
    lines, blocks = [], []
    for number, (name, shape) in enumerate(each.split(" ") for each in inputs.split(", ")):
        count = prod(map(int, shape.partition("[")[2].rstrip("]").split(",")))
        size_bytes = count * (2 if shape.startswith("bf16") else 4)
        label = f"p{number}" if number else "x"
        blocks.append(
            f"{number} | {size_bytes} | parameter {number}, shape |{shape}| at ShapeIndex {{}}"
        )
        made = f"parameter({number}) | {name}"
        lines.append(f"{number} | {label} | {shape}{{0}} | 0 | {size_bytes} | 0-2 | {made}")
    blocks.append(f"{len(blocks)} | {size} | preallocated-temp")
    table = values.replace("t |", f"{len(lines)} |")
    return tiny_dump("\n".join(blocks), "\n".join([*lines, *table.strip().splitlines()]))
