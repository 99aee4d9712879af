"""Compile the variants of one program with the libraries of the environment that runs this.

    python -m benchmarks.accuracy.compile_program NAME FOLDER [TOPOLOGY]

With a topology, the programs are compiled for its first device (docs/jax.md names the packages).

A variant is a run of the same name in the folder. `variants.json` has the declaration of the
program, and the parameters that each variant donates.
"""

import dataclasses
import importlib
import json
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.accuracy.step import Step

if TYPE_CHECKING:
    import jax.stages

Build = Callable[[frozenset[str]], Step]


def variant_name(flags: Collection[str]) -> str:
    """Return the name of a variant: its flags, or `healthy`."""
    return "+".join(sorted(flags)).replace(" ", "_") or "healthy"


def donated_parameters(step: Step, lowered: "jax.stages.Lowered") -> list[int]:
    """Return the numbers of the entry parameters that belong to donated arguments."""
    import jax

    donated = [
        position in step.donate
        for position, argument in enumerate(step.arguments)
        for _ in jax.tree.leaves(argument)
    ]
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    return [number for number, index in enumerate(kept) if donated[index]]


def compile_variant(
    build: Build, flags: frozenset[str], folder: Path, topology: str | None = None
) -> list[int]:
    """Compile one variant, with its dump in the folder, and return its donated parameters."""
    import jax
    from jax.sharding import SingleDeviceSharding

    enable: Callable[[str, bool], None] = jax.config.update
    enable("jax_enable_x64", "float64" in flags)
    step = build(flags)
    if topology is not None:
        from xlagraph.jax import devices_of

        place = SingleDeviceSharding(devices_of(topology)[0])
        shapes = jax.eval_shape(lambda *arguments: arguments, *step.arguments)
        step = step._replace(
            arguments=jax.tree.map(lambda each: each.update(sharding=place), shapes)
        )
    options: dict[str, Any] = {} if step.shardings is None else {"in_shardings": step.shardings}
    jitted = jax.jit(step.function, donate_argnums=step.donate, **options)
    lowered = jitted.lower(*step.arguments)
    settings: dict[str, Any] = {"xla_dump_to": str(folder), "xla_dump_hlo_as_text": True}
    lowered.compile(settings | dict(step.options))
    for path in folder.iterdir():
        if "before_optimizations" in path.name or path.name.endswith(
            ("report.txt", "debug_options", ".ll", ".ptx")
        ):
            path.unlink()
    return donated_parameters(step, lowered)


def main(name: str, folder: Path, topology: str | None = None) -> None:
    """Compile all variants of a program; a variant that fails is reported and skipped."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    module = importlib.import_module(f"benchmarks.accuracy.programs.{name}")
    donated = {}
    for flags in module.PROGRAM.variants:
        variant = variant_name(flags)
        into = folder / variant
        into.mkdir(parents=True, exist_ok=True)
        try:
            donated[variant] = compile_variant(module.build, flags, into, topology)
        except Exception as error:  # noqa: BLE001  other variants still compile
            print(f"{name} {variant}: {type(error).__name__}: {error}", file=sys.stderr)
    facts = {"program": dataclasses.asdict(module.PROGRAM), "donated": donated}
    (folder / "variants.json").write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
