"""Write the result of a bisection: the first bad version, and what grew with it."""

from typing import TYPE_CHECKING, NamedTuple

from xlagraph.cli.output.graph_and_queries import open_graph_of
from xlagraph.cli.output.limits import GrowthLimit
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from xlagraph.recording import Bisection


class Recording(NamedTuple):
    """The run of a version, and the bytes that all its compilations reserve."""

    run: str
    reserved_bytes: int


def write_growth(found: "Bisection[Recording]", limit: int | None, options: RowOptions) -> None:
    """Write the comparison of the good and bad version; of both ends if none is bad."""
    from xlagraph.cli.summaries.comparison import write_comparisons
    from xlagraph.queries import compare

    before, after = (found.good, found.bad) if found.bad else (found.first, found.good)
    with open_graph_of(options) as graph:
        comparison = compare(graph, before[1].run, after[1].run)
    write_comparisons([comparison], None, limit, None, options)


def verdict_line(found: "Bisection[Recording]", package: str, limit: GrowthLimit) -> str:
    """Return one line with the first bad version, or that there is none."""
    version, last = found.bad or found.good
    sizes = (
        f"{human_bytes(last.reserved_bytes)} reserved,"
        f" {human_bytes(found.first[1].reserved_bytes)} with {found.first[0]}"
    )
    if found.bad is None:
        return f"{package} {version}: {sizes}; no more than {limit.text} of growth"
    skipped = f" (or, skipped: {', '.join(found.unknown)})" if found.unknown else ""
    return (
        f"{package} {version} is the first bad version{skipped}: {sizes};"
        f" more than {limit.text} is not allowed"
    )
