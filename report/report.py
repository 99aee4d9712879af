"""Build a report: one self-contained HTML file."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from xlagraph.graph import Graph
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries import Query, load_catalogue, select
from xlagraph.report.answers import advice_and_answers
from xlagraph.report.comparison import compare_sides, comparison_part
from xlagraph.report.compilation import part_of
from xlagraph.report.overview import TotalsRow, overview_part, read_totals
from xlagraph.report.packed_tables import PagePart
from xlagraph.report.page_source import html_document, page_source
from xlagraph.report.static_html import (
    static_advice_html,
    static_comparison_html,
    static_compilations_html,
)
from xlagraph.runtime.files import whole_file

MOST_BYTES: Final = 8 * 2**20
"""Limit of the packed size of all compilations in a file; the rest are only listed."""

Progress = Callable[[str, float], None]
"""Receives the key of the compilation that is read, and the share of the page that is made."""

ANSWERED_SHARE: Final = 0.2
"""Share of the largest compilation's bytes from which one gets advice and answers."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page, with notes for the user who made it; a path once it is written."""

    html: str
    notes: tuple[str, ...]
    path: Path | None = None
    """File of the page; None if it was not written."""

    def written_to(self, path: Path) -> "Report":
        """Write the page to a file, and return the report with its path."""
        with whole_file(path) as unfinished:
            unfinished.write_text(self.html, encoding="utf-8")
        return replace(self, path=path)

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("the report has no path: it was not written to a file")
        return str(self.path)

    def __repr__(self) -> str:
        where = "not written to a file" if self.path is None else str(self.path)
        return f"<Report: {human_bytes(len(self.html.encode()))}, {where}>"

    def _repr_html_(self) -> str:
        """Return a link to the file and the page in a frame."""
        frame = 'width="100%" height="700" style="border: 0"></iframe>'
        if self.path is None:
            return f'<iframe srcdoc="{escape(self.html)}" {frame}'
        address = escape(quote(self.path.as_posix()))
        link = f'<a href="{address}" target="_blank">{escape(str(self.path))}</a>'
        return f'<p>{link}</p><iframe src="{address}" {frame}'


def make_report(
    graph: Graph,
    names: Sequence[str] = (),
    *,
    catalogue: Mapping[str, Query] | None = None,
    progress: Progress = lambda _key, _share: None,
) -> Report:
    """Make the page of a run or a compilation, of everything, or of two that are compared.

    It answers the queries of the catalogue, by default the canned ones. ``progress`` is called
    while the page is made. Raises ValueError for
    more than two names, and what `select` raises.
    """
    queries = load_catalogue() if catalogue is None else catalogue
    match names:
        case []:
            return _of_compilations(graph, queries, "all runs", None, progress)
        case [name]:
            selection = select(graph, name)
            chosen = selection.compilations
            return _of_compilations(graph, queries, selection.name, chosen, progress)
        case [before, after]:
            return _of_comparison(graph, queries, before, after, progress)
        case _:
            raise ValueError(f"a report compares two runs or compilations, not {len(names)}")


def _of_compilations(
    graph: Graph,
    catalogue: Mapping[str, Query],
    title: str,
    compilations: Sequence[str] | None,
    progress: Progress,
) -> Report:
    totals = read_totals(graph, compilations)
    parts, advice = _packed(graph, catalogue, totals, progress)
    overview = overview_part(totals, title=title, location=graph.location, carried=parts)
    static = static_compilations_html(title, totals, advice)
    return Report(
        _page(title, static, {"start": overview.packed(), **parts}),
        _left_out(len(totals), len(parts)),
    )


def _of_comparison(
    graph: Graph, catalogue: Mapping[str, Query], before: str, after: str, progress: Progress
) -> Report:
    comparison = compare_sides(graph, before, after)
    start = comparison_part(graph, comparison)
    totals = read_totals(graph, [*comparison.a.compilations, *comparison.b.compilations])
    parts, _ = _packed(graph, catalogue, totals, progress)
    title = f"{comparison.a.name} and {comparison.b.name}"
    overview = overview_part(totals, title=title, location=graph.location, carried=parts)
    data_elements = {"start": start.packed(), "compilations": overview.packed(), **parts}
    return Report(
        _page(title, static_comparison_html(comparison), data_elements),
        _left_out(len(totals), len(parts)),
    )


def _packed(
    graph: Graph, catalogue: Mapping[str, Query], totals: Sequence[TotalsRow], progress: Progress
) -> tuple[dict[str, bytes], str]:
    """Pack compilations in order until the page is full; the first one is always packed.

    Also return the advice on the first as HTML.
    """
    parts: dict[str, bytes] = {}
    advice = ""
    left = MOST_BYTES
    most = max(map(_reserved_bytes, totals), default=0)
    for number, row in enumerate(totals):
        once = AskedOnce(graph)
        stored = StoredCompilation(once, str(row["compilation"]))
        progress(stored.key, number / len(totals))
        answers: PagePart | None = None
        if _reserved_bytes(row) >= ANSWERED_SHARE * most:
            half = partial(progress, stored.key, (number + 0.5) / len(totals))
            diagnosis, answers = advice_and_answers(
                once, stored.key, catalogue, stored=stored, after_advice=half
            )
            advice = advice or static_advice_html(once, diagnosis)
        packed = part_of(stored, answers).packed()
        left -= len(packed)
        if left < 0 and parts:  # the first is what was asked for, however large
            break
        parts[stored.key] = packed
    return parts, advice


def _reserved_bytes(totals: TotalsRow) -> int:
    return cast("int", totals["reservedBytes"] or 0)


def _left_out(wanted: int, carried: int) -> tuple[str, ...]:
    if carried == wanted:
        return ()
    note = (
        f"{wanted - carried} of {wanted} compilations are only listed: the file would be too"
        " large; name one of them to see it"
    )
    return (note,)


def _page(title: str, static: str, parts: Mapping[str, bytes]) -> str:
    source = page_source()
    return html_document(
        "report",
        title=f"{title.encode('utf-8', 'replace').decode('utf-8')[:200]} – xlagraph",
        head=(
            f'<meta http-equiv="Content-Security-Policy" content="{escape(source.policy)}">\n'
            f"<style>{source.style}</style>"
        ),
        body="\n".join(
            (
                '<div id="page"></div>',
                f'<main id="static">\n{static}\n</main>',
                *_data_elements(parts),
                f"<script>{source.script}</script>",
            )
        ),
    )


def _data_elements(parts: Mapping[str, bytes]) -> Iterable[str]:
    for name, packed in parts.items():
        text = base64.b64encode(packed).decode("ascii")
        yield f'<script type="text/plain" data-part="{escape(name)}">{text}</script>'
