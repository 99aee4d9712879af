"""`xlagraph compare`: compare runs or compilations, and limit their growth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.graph_and_queries import complete_compilation, open_graph_of
from xlagraph.cli.output.limits import GrowthLimit, parse_growth_limit
from xlagraph.cli.output.messages import Verbosity, note, problem, verbosity
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.comparison.groups import By
from xlagraph.presentation.byte_sizes import counted, human_bytes

if TYPE_CHECKING:
    from xlagraph.comparison.compared_sides import Comparison

_UNPAIRED_SHOWN: Final = 5
"""Number of unpaired compilations that are listed."""


@dataclass(frozen=True)
class CompareOptions(RowOptions):
    """Options of the command."""

    by: By | None = option(f"Show only this grouping: {', '.join(By)}.", metavar="GROUPING")
    limit: int | None = option(
        "Rows of each part; 0 for all. (default: 10, or 5 if all parts are shown)", least=0
    )
    depth: int = option("Number of leading op name parts, for --by scope.", default=3, least=1)
    max_growth: GrowthLimit | None = option(
        "Exit 4 if the sum of all reserved bytes grows by more than this.",
        metavar="2%|64MiB",
        parser=parse_growth_limit,
    )


def compare(
    options: CompareOptions,
    a: Annotated[
        str, typer.Argument(metavar="A", help="Before.", autocompletion=complete_compilation)
    ],
    b: Annotated[
        list[str],
        typer.Argument(
            metavar="B",
            help="After. If there are several, each is compared with A in a row.",
            autocompletion=complete_compilation,
        ),
    ],
) -> None:
    """Show why run or compilation B reserves more than A.

    The sentences at the top add up to the growth, and so do the rows by cause. Values are matched
    by op, shape, role and place in the computation, not by name. "everything else" sums the rows
    that are not shown. --format md writes a comment for a pull request. In json and csv, a row has
    part (total, reason, compilation, unpaired, cause, temporary, role, op, line), name,
    compilationA, compilationB, bytesA, bytesB and growthBytes; with --by, the columns of that
    grouping.

    Example: xlagraph compare baseline batch2x --max-growth 2%
    """
    from xlagraph.cli.summaries.comparison import write_comparisons
    from xlagraph.comparison.compare import DEFAULT_GROUPS
    from xlagraph.comparison.compare import compare as compare_sides

    by = options.by
    with open_graph_of(options) as graph:
        comparisons = [
            compare_sides(
                graph,
                a,
                side,
                by=[by] if by else DEFAULT_GROUPS,
                depth=options.depth,
                explain=by is None and len(b) == 1,
            )
            for side in b
        ]
    for comparison in comparisons:
        _write_unpaired(comparison, 0 if len(comparisons) > 1 else _UNPAIRED_SHOWN)
    _write_without_peak(comparisons)
    write_comparisons(comparisons, by, options.limit, options.max_growth, options)
    code = _check_growth(comparisons, options.max_growth)
    if code is not ExitCode.DONE:
        raise typer.Exit(code)


def _check_growth(comparisons: "Sequence[Comparison]", limit: GrowthLimit | None) -> ExitCode:
    code = ExitCode.DONE
    for comparison in comparisons:
        if limit is not None and limit.exceeded_by(comparison.reserved):
            code = ExitCode.GATE
            problem(f"{comparison.headline}; more than {limit.text} is not allowed")
    return code


def _write_unpaired(comparison: "Comparison", most: int) -> None:
    shown = len(comparison.unpaired) if verbosity() is Verbosity.VERBOSE else most
    for pair in comparison.unpaired[:shown]:
        only, unpaired = (comparison.a, pair.a) if pair.a else (comparison.b, pair.b)
        reserved = human_bytes(pair.reserved.bytes_a or pair.reserved.bytes_b or 0)
        note(f"only in {only.name}: {unpaired.key if unpaired else ''} ({reserved} reserved)")
    left_out = len(comparison.unpaired[shown:])
    if left_out:
        sides = f"{comparison.a.name} and {comparison.b.name}"
        what = counted(left_out, "more compilation" if shown else "compilation")
        verb = "has" if left_out == 1 else "have"
        note(f"{what} of {sides} {verb} no partner (--verbose names them)")


def _write_without_peak(comparisons: "Sequence[Comparison]") -> None:
    sides = {comparison.a.name: (comparison, comparison.a) for comparison in comparisons}
    sides |= {comparison.b.name: (comparison, comparison.b) for comparison in comparisons}
    for name, (comparison, side) in sides.items():
        if lacking := comparison.without_peak(side):
            note(
                f"{name}: {len(lacking)} of {len(side.compilations)} compilations have no live"
                " ranges, so their peaks are unknown"
            )
