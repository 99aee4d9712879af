"""queries.md: the canned queries, from their headers."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from pages.markdown import page, table
from xlagraph.queries.catalogue.declarations import FRAMEWORKS, MEASURES, NO_ROWS
from xlagraph.queries.catalogue.query_files import Query


def queries_page(catalogue: Mapping[str, Query]) -> str:
    """Describe every query: its question, parameters, columns, and which bytes it counts."""
    themes = [
        (theme, list(queries))
        for theme, queries in groupby(catalogue.values(), key=lambda query: query.theme)
    ]
    lines = [
        "# The canned queries",
        "",
        _ABOUT_QUERIES,
        "",
        f"Themes: {', '.join(f'[{theme}](#{theme})' for theme, _ in themes)}.",
        "",
        "Which bytes a query counts is its measure; [measures](measures.md) has drawings.",
        "",
        *table(("measure", "is"), ((f"**{name}**", text) for name, text in MEASURES.items())),
    ]
    for theme, queries in themes:
        lines += [f"## {theme}", ""]
        rows = (
            (f"[`{query.id}`](#{query.id.replace('/', '')})", query.answers) for query in queries
        )
        lines += table(("query", "question"), rows)
        for query in queries:
            lines += _query(query)
    return page("the headers of queries/canned/*/*.cypher", lines)


_ABOUT_QUERIES: Final = """\
`xlagraph query ID` runs one, its parameters are options: `runA` is `--run-a`. A `compilation`
may be named by any unique part of its key, also right behind the ID, and left out it is the one
that reserves most. In a table bytes are shown as `1.5 MiB`; in csv and json they are integers.
`null` is what the dump does not tell. `--columns A,B` writes these columns alone. A table leaves
out columns that are all null, and on a terminal those for which there is no room; `--wide` shows
every column."""
_ABOUT_KINDS: Final = {
    "table": "",
    "series": " One row a step (series).",
    "graph": " Rows are paths, to be drawn (graph).",
}


def _query(query: Query) -> Iterator[str]:
    file = f"{query.id}.cypher"
    yield from (f"### {query.id}", "", f"*{query.answers}*", "")
    kind = _ABOUT_KINDS[query.kind]
    status = "" if query.status == "stable" else f" Status: {query.status}."
    link = f"[{file}](../queries/canned/{file})"
    yield f"{query.title}.{kind} Measure: {query.measure}.{status} {link}"
    yield ""
    if query.parameters:
        rows = (
            (
                f"`--{parameter.option}`",
                parameter.type.lower(),
                _default(parameter.default),
                parameter.description,
            )
            for parameter in query.parameters
        )
        yield from table(("parameter", "type", "default", "is"), rows)
    columns = (
        (f"`{column.name}`", column.type.lower(), column.description) for column in query.columns
    )
    yield from table(("column", "type", "is"), columns)
    if query.notes:
        yield from (f"- {note}" for note in query.notes)
        yield ""
    if query.empty != NO_ROWS:
        yield from (f"No rows: {query.empty}.", "")
    if query.advice:
        yield (
            f"`xlagraph advise` asks it: *{query.advice.title}*, `{query.advice.column}` being the"
            f" potential savings, as a share of what is {_SHARE_OF[query.advice.measure]}."
        )
        yield ""
        for framework, name in FRAMEWORKS.items():
            if remedy := query.advice.remedies.get(framework):
                yield f"- {name}: {remedy}"
        yield ""


def _default(default: object) -> str:
    if default is None:
        return ""
    return "`''`" if default == "" else f"`{str(default).lower()}`"


_SHARE_OF: Final = {"reserved": "reserved", "physical": "held at the physical peak"}
