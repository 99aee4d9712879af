"""Builds a report: one file of HTML that needs nothing else."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, cast

from xlagraph.graph import Graph
from xlagraph.queries import Diagnosis, Query, advise, load_catalogue, run, select
from xlagraph.report.answers import advice_and_answers
from xlagraph.report.comparison import compare_sides, comparison_part
from xlagraph.report.compilation import compilation_part
from xlagraph.report.overview import overview_part
from xlagraph.report.page_source import page_source
from xlagraph.report.static_html import plain_comparison, plain_compilations

MOST_BYTES: Final = 8 * 2**20
"""Of all compilations in a file, packed; those that reserve less are only listed then."""

ANSWERED_SHARE: Final = 0.2
"""Part of what the largest compilation reserves from which the canned queries are asked."""

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} – xlagraph</title>
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<main id="plain">
{plain}
</main>
{data_elements}
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Report:
    """A page, and what its maker should know."""

    html: str
    notes: tuple[str, ...]


def make_report(
    graph: Graph,
    names: Sequence[str] = (),
    *,
    catalogue: Mapping[str, Query] | None = None,
) -> Report:
    """Make the page of a run or a compilation, of everything, or of two that are compared.

    It answers the queries of the catalogue, by default the canned ones. Raises ValueError for
    more than two names, and what `select` raises.
    """
    queries = load_catalogue() if catalogue is None else catalogue
    match names:
        case []:
            return _of_compilations(graph, queries, "all runs", None)
        case [name]:
            selection = select(graph, name)
            return _of_compilations(graph, queries, selection.name, selection.compilations)
        case [before, after]:
            return _of_comparison(graph, queries, before, after)
        case _:
            raise ValueError(f"a report compares two runs or compilations, not {len(names)}")


def _of_compilations(
    graph: Graph,
    catalogue: Mapping[str, Query],
    title: str,
    compilations: Sequence[str] | None,
) -> Report:
    reserved = _reserved_bytes(graph, compilations)
    keys = list(reserved)
    diagnosis = advise(graph, keys[0], catalogue=catalogue) if keys else None
    parts = _packed(graph, catalogue, reserved, diagnosis)
    overview = overview_part(graph, keys, title=title, carried=parts)
    plain = plain_compilations(graph, title, keys, diagnosis)
    return Report(
        _page(title, plain, {"start": overview.packed(), **parts}),
        _left_out(len(keys), len(parts)),
    )


def _of_comparison(graph: Graph, catalogue: Mapping[str, Query], before: str, after: str) -> Report:
    comparison = compare_sides(graph, before, after)
    start = comparison_part(graph, comparison)
    reserved = _reserved_bytes(graph, [*comparison.a.compilations, *comparison.b.compilations])
    keys = list(reserved)
    parts = _packed(graph, catalogue, reserved)
    title = f"{comparison.a.name} and {comparison.b.name}"
    overview = overview_part(graph, keys, title=title, carried=parts)
    data_elements = {"start": start.packed(), "compilations": overview.packed(), **parts}
    return Report(
        _page(title, plain_comparison(comparison), data_elements), _left_out(len(keys), len(parts))
    )


def _reserved_bytes(graph: Graph, compilations: Sequence[str] | None) -> dict[str, int]:
    """Return what compilations, or all, reserve by key; what reserves most comes first."""
    rows = run(graph, "overview/compilations").result.mappings()
    wanted = None if compilations is None else set(compilations)
    return {
        str(row["compilation"]): cast("int", row["reservedBytes"] or 0)
        for row in rows
        if wanted is None or row["compilation"] in wanted
    }


def _packed(
    graph: Graph,
    catalogue: Mapping[str, Query],
    reserved_bytes: Mapping[str, int],
    diagnosis: Diagnosis | None = None,
) -> dict[str, bytes]:
    """Pack compilations in their order, until there is no room; the first in any case.

    It may be diagnosed already.
    """
    parts: dict[str, bytes] = {}
    left = MOST_BYTES
    most = max(reserved_bytes.values(), default=0)
    for key, reserved in reserved_bytes.items():
        facts: Mapping[str, object] = {}
        if reserved >= ANSWERED_SHARE * most:
            facts = advice_and_answers(graph, key, catalogue, None if parts else diagnosis)
        packed = compilation_part(graph, key, more_facts=facts).packed()
        left -= len(packed)
        if left < 0 and parts:  # the first is what was asked for, however large
            break
        parts[key] = packed
    return parts


def _left_out(wanted: int, carried: int) -> tuple[str, ...]:
    if carried == wanted:
        return ()
    note = (
        f"{wanted - carried} of {wanted} compilations are only listed: the file would be too"
        " large; name one of them to see it"
    )
    return (note,)


def _page(title: str, plain: str, parts: Mapping[str, bytes]) -> str:
    source = page_source()
    return _PAGE.format(
        policy=escape(source.policy),
        title=escape(title.encode("utf-8", "replace").decode("utf-8")[:200]),
        style=source.style,
        plain=plain,
        data_elements="\n".join(_data_elements(parts)),
        script=source.script,
    )


def _data_elements(parts: Mapping[str, bytes]) -> Iterable[str]:
    for name, packed in parts.items():
        text = base64.b64encode(packed).decode("ascii")
        yield f'<script type="text/plain" data-part="{escape(name)}">{text}</script>'
