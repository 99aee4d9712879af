"""`%%xla_memory`: run a notebook cell, and show the memory plans of the programs it compiles."""

from typing import TYPE_CHECKING, Any

from xlagraph.jax.compilation_watch import watch_compilations
from xlagraph.jax.function_plan import FunctionPlan
from xlagraph.presentation.outlines import Outline, Outlined, OutlineTable

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_COLUMNS = ("compilation", "reservedBytes", "peakBytes", "largestLine", "lineBytes")


class CellMemory(Outlined):
    """The memory plans of the programs that a cell compiled, the largest first."""

    def __init__(self, plans: list[FunctionPlan], notes: list[str]) -> None:
        self.plans = sorted(plans, key=lambda plan: -plan.reserved)
        self.notes = notes if plans or notes else ["nothing was compiled"]

    def outline(self) -> Outline:
        """Return a row for each program."""
        rows = [
            (plan.name.partition("/")[2], plan.reserved, plan.peak, *_largest_line(plan))
            for plan in self.plans
        ]
        return Outline("", [OutlineTable(_COLUMNS, rows)] if rows else (), self.notes)


def show_cell_memory(shell: "InteractiveShell", line: str, cell: str) -> CellMemory:
    """Run a cell, and return the memory plans of the programs it compiled.

    The result is stored in the notebook as ``xla_memory``, or under the name given to the magic.
    Example: ``xla_memory.plans[0].advise()``.
    """
    run_cell: Any = shell.run_cell
    with watch_compilations() as watch:
        run_cell(cell).raise_error()
    memory = CellMemory(watch.plans, sorted(set(watch.unreadable)))
    shell.user_ns[line.strip() or "xla_memory"] = memory
    return memory


def _largest_line(plan: FunctionPlan) -> tuple[str | None, int | None]:
    """Return the source line with most bytes at the peak, and its bytes."""
    for row in plan.by_line().result.mappings():
        of = "user" if row["userFile"] is not None else "source"
        if row[f"{of}File"] is not None:
            return f"{row[f'{of}File']}:{row[f'{of}Line']}", int(str(row["physicalBytes"]))
    return None, None
