"""Write dumps to measure with: training steps, folders of them, wide loops.

    python -m benchmarks.inputs step DIR --layers 24
    python -m benchmarks.inputs folder DIR --values 1000000 --values-each 5000
    python -m benchmarks.inputs loop DIR --megabytes 140

The same arguments write the same bytes.
"""

import argparse
from math import isqrt
from pathlib import Path

from benchmarks.programs.dump_text import write_single, write_split
from benchmarks.programs.layer import USUAL_SIZES, Sizes
from benchmarks.programs.training_step import training_step
from benchmarks.programs.wide_loop import wide_loop
from benchmarks.programs.wide_peak import wide_peak

VALUES_PER_LAYER = 128
"""Values of each layer of a training step; about ten more occur once."""

LOOP_BYTES = (68, 2540)
"""Bytes of a wide loop of n leaves: a factor of n², and one of n."""


def write_training_step(
    folder: Path, layers: int, module_id: int = 1, sizes: Sizes = USUAL_SIZES
) -> Path:
    """Write one step in the newest layout; return its allocation file."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_split(training_step(layers, sizes), folder, module_id)


def write_training_folder(folder: Path, values: int, values_each: int = 5000) -> int:
    """Write two runs of steps with about ``values`` values; return the number of compilations.

    Each has about ``values_each`` values, no two the same shapes; the second run is wider.
    """
    layers = max(1, values_each // VALUES_PER_LAYER)
    compilations = max(2, round(values / (layers * VALUES_PER_LAYER)))
    for number in range(compilations):
        run, index = ("changed", "baseline")[number % 2], number // 2
        width = 64 * (1 + index // 16) + (8 if run == "changed" else 0)
        sizes = Sizes(batch=1 + index % 16, width=width)
        write_training_step(folder / run, layers, module_id=index, sizes=sizes)
    return compilations


def write_wide_loop(folder: Path, megabytes: float, module_id: int = 1) -> Path:
    """Write a loop whose dump has about ``megabytes`` MB in one file; return that file."""
    folder.mkdir(parents=True, exist_ok=True)
    square, linear = LOOP_BYTES
    root = isqrt(linear**2 + 4 * square * int(megabytes * 1e6))
    leaves = max(2, (root - linear) // (2 * square))
    return write_single(wide_loop(leaves), folder, module_id)


def write_wide_peak(folder: Path, live: int, module_id: int = 1) -> Path:
    """Write a program with this many values that are live together; return its allocation file."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_split(wide_peak(live), folder, module_id)


def main() -> None:
    """Read the command line and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    step = commands.add_parser("step", help="one training step")
    step.add_argument("folder", type=Path)
    step.add_argument("--layers", type=int, default=24)
    folder = commands.add_parser("folder", help="many training steps")
    folder.add_argument("folder", type=Path)
    folder.add_argument("--values", type=int, default=100_000)
    folder.add_argument("--values-each", type=int, default=5000)
    loop = commands.add_parser("loop", help="one loop with a wide state")
    loop.add_argument("folder", type=Path)
    loop.add_argument("--megabytes", type=float, default=10)
    options = parser.parse_args()
    if options.command == "step":
        print(write_training_step(options.folder, options.layers))
    elif options.command == "folder":
        count = write_training_folder(options.folder, options.values, options.values_each)
        print(f"{count} compilations in {options.folder}")
    else:
        print(write_wide_loop(options.folder, options.megabytes))


if __name__ == "__main__":
    main()
