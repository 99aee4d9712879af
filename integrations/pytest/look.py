"""The graph of a plan that failed a test, and commands to inspect it."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xlagraph.jax import FunctionPlan

_NOT_IN_A_NAME: Final = re.compile(r"[^\w.-]+")
_LONGEST_NAME: Final = 100


def look_text(plan: "FunctionPlan", test: str, folder: Path | None) -> str:
    """Save a plan's graph, and return commands to inspect it; empty without a folder.

    An earlier graph of the same test is replaced.
    """
    if folder is None:
        return ""
    file = folder / f"{_NOT_IN_A_NAME.sub('-', test)[-_LONGEST_NAME:].strip('-')}.lbug"
    for old in folder.glob(f"{file.name}*"):
        old.unlink()
    plan.save(file)
    here = Path.cwd()
    shown = file.relative_to(here) if file.is_relative_to(here) else file
    graph = shlex.quote(str(shown))
    return (
        f"look: xlagraph query peak/by-line --graph {graph}\n"
        f"      xlagraph advise --graph {graph}\n"
        f"      xlagraph report --graph {graph} --output memory.html"
    )
