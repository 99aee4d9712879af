"""The part of a report that needs no script: totals, advice, largest values at the peak."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final, cast

from xlagraph.graph import Cell, Graph
from xlagraph.presentation.byte_sizes import known_bytes, share_text, signed_bytes
from xlagraph.queries import Comparison, Diagnosis, run
from xlagraph.report.overview import TotalsRow

_LARGEST: Final = 20
_LONGEST_CELL: Final = 160


def static_compilations_html(title: str, totals: Sequence[TotalsRow], advice: str) -> str:
    """Return HTML about the compilations, then the advice on the first."""
    blocks = [
        f"<h1>Memory plans of {_text(title)}</h1>",
        _table(
            ("compilation", "reserved", "physical peak", "logical peak"),
            (
                (
                    row["compilation"],
                    _bytes(row["reservedBytes"]),
                    _bytes(row["physicalPeakBytes"]),
                    _bytes(row["logicalPeakBytes"]),
                )
                for row in totals[:_LARGEST]
            ),
        ),
    ]
    if len(totals) > _LARGEST:
        blocks.append(f"<p>… and {len(totals) - _LARGEST} smaller ones</p>")
    if advice:
        blocks.append(advice)
    return "\n".join(blocks)


def static_advice_html(graph: Graph, diagnosis: Diagnosis) -> str:
    """Return HTML about a compilation: its diagnosis, and what is largest at its peak."""
    return "\n".join((*_advice(diagnosis), *_contributors(graph, diagnosis.name)))


def static_comparison_html(comparison: Comparison) -> str:
    """Return HTML about the growth between two sides."""
    before, after = comparison.a.name, comparison.b.name
    totals = (
        ("reserved", comparison.growth_of("reserved")),
        ("logical peak", comparison.growth_of("logicalPeak")),
        ("physical peak", comparison.growth_of("physicalPeak")),
    )
    blocks = [
        f"<h1>{_text(before)} and {_text(after)}</h1>",
        _table(
            ("", before, after, "growth"),
            (
                (
                    name,
                    _bytes(growth.bytes_a),
                    _bytes(growth.bytes_b),
                    signed_bytes(growth.growth_bytes),
                )
                for name, growth in totals
            ),
        ),
    ]
    if comparison.sentences:
        sentences = "".join(f"<li>{_text(each.line)}</li>" for each in comparison.sentences)
        blocks.append(f"<h2>Why</h2><ul>{sentences}</ul>")
    for by, groups in comparison.groups.items():
        blocks += [
            f"<h2>Growth by {by}</h2>",
            _table(
                (str(by), before, after, "growth"),
                (
                    (
                        " ".join("–" if cell is None else str(cell) for cell in growth.group),
                        _bytes(growth.bytes_a),
                        _bytes(growth.bytes_b),
                        signed_bytes(growth.growth_bytes),
                    )
                    for growth in groups[:_LARGEST]
                ),
            ),
        ]
    return "\n".join(blocks)


def _advice(diagnosis: Diagnosis) -> Iterable[str]:
    yield f"<h2>What could be changed about {_text(diagnosis.name)}</h2>"
    if not diagnosis.findings:
        yield f"<p>{_text(diagnosis.nothing_found)}</p>"
        return
    yield "<ul>"
    for finding in diagnosis.findings:
        remedies = " ".join(
            f"{framework}: {remedy}" for framework, remedy in finding.remedies.items()
        )
        doubt = finding.savings.doubt
        yield (
            f"<li><b>{_text(finding.advice.title)}</b>: {_text(finding.savings.text)},"
            f" {share_text(finding.share)} ({_text(finding.savings.measure)})."
            f"{'' if doubt is None else f' Not certain: {_text(doubt)}.'} {_text(remedies)}</li>"
        )
    yield "</ul>"


def _contributors(graph: Graph, compilation: str) -> Iterable[str]:
    rows = run(
        graph, "peak/contributors", compilation=compilation, limit=_LARGEST
    ).result.mappings()
    yield f"<h2>Largest at the peak of {_text(compilation)}</h2>"
    yield _table(
        ("value", "bytes at the peak", "shape", "opcode", "op", "line"),
        (
            (
                row["value"],
                _bytes(row["physicalBytes"]),
                row["shape"],
                row["opcode"],
                row["opName"],
                _lines(row),
            )
            for row in rows
        ),
    )


def _lines(row: Mapping[str, Cell]) -> str | None:
    """Return the user's line, and the line of the library that it calls, if there are both."""
    places = [
        f"{row[f'{side}File']}:{row[f'{side}Line']}"
        for side in ("user", "source")
        if row[f"{side}File"]
    ]
    return " → ".join(dict.fromkeys(places)) or None


def _table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{_breakable(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _breakable(cell: Cell) -> str:
    # a name of an op may be wider than the screen; its parts are whole words
    return _text(cell).replace("/", "/<wbr>")


def _text(cell: Cell) -> str:
    text = "" if cell is None else str(cell)
    shown = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    # a lone surrogate cannot be written as UTF-8
    return escape(shown.encode("utf-8", "replace").decode("utf-8"))


def _bytes(cell: Cell) -> str:
    return known_bytes(cast("int | None", cell))
