"""Compile programs for hardware that is not there, make the edits of findings, and compare.

    python -m benchmarks.topologies h100 v5e:2x2 [--write-page]

Each program is compiled as it is, and with the edit that one of its findings names. The environment
needs JAX, optax, and for each topology what docs/jax.md names: libtpu, or the plugin of CUDA and
NVIDIA's compilers. The table is printed, or written into docs/accuracy.md.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

from benchmarks.topologies.programs import Program, cases
from xlagraph.jax import devices_of, memory_plan
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
BEGIN = "<!-- written by python -m benchmarks.topologies -->\n"
END = "<!-- end of the table of topologies -->\n"


def planned(program: Program, topology: str) -> "FunctionPlan":
    """Return the plan of a program that is compiled for a topology; close it."""
    options: dict[str, Any] = {"donate_argnums": program.donated}
    if program.chooses_layouts:
        chosen = Format(Layout.AUTO, SingleDeviceSharding(devices_of(topology)[0]))
        options |= {"in_shardings": chosen, "out_shardings": chosen}
    return memory_plan(program.function, *program.arguments, topology=topology, **options)


def rows(topology: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each edit: what was promised, and what it saves when it is compiled."""
    for case in cases():
        with planned(case.program, topology) as plan:
            before = plan.reserved
            found = [
                each for each in plan.advise().findings if each.advice.title.startswith(case.title)
            ]
        finding = found[0] if found else None
        for edit, program in {case.edit: case.edited, **case.others}.items():
            with planned(program, topology) as plan:
                saved = before - plan.reserved
            yield (
                topology,
                case.name,
                case.title,
                edit,
                human_bytes(before),
                "not found" if finding is None else finding.savings.text,
                human_bytes(saved),
            )


def table(topologies: Sequence[str]) -> str:
    """Return the table as Markdown."""
    header = ("topology", "program", "finding", "edit", "reserved", "promised", "recompiled")
    lines: list[tuple[str, ...]] = [header, ("---",) * 4 + ("---:",) * 3]
    lines += [row for topology in topologies for row in rows(topology)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Read the command line, compile, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("topology", nargs="+")
    parser.add_argument("--write-page", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args()
    found = f"{table(options.topology)}\nCompiled with jax {jax.__version__}.\n"
    print(found)
    if options.write_page:
        page = PAGE.read_text(encoding="utf-8")
        between = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
        PAGE.write_text(between.sub(lambda _: f"{BEGIN}\n{found}\n{END}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
