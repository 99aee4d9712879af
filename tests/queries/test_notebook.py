"""An answer, a comparison and a diagnosis in a notebook, and their data frames."""

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from tests.tiny_dumps import write_padded_run, write_runs
from xlagraph.graph import Graph, Result, open_graph, rename_run
from xlagraph.ingest import ingest
from xlagraph.queries import advise, compare, run

HOSTILE = "<img src=x onerror=alert(1)>&\u202e$x$"


class Page(HTMLParser):
    """A parser for the tags and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def page_of(shown: object) -> Page:
    return Page(shown._repr_html_())  # type: ignore[attr-defined]  # called like in a notebook


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("notebook")
    with open_graph(folder / "graph.lbug", create=True) as graph:
        write_runs(folder / "runs")
        ingest(graph, write_padded_run(folder / "runs"), jobs=1)
        rename_run(graph, "after", HOSTILE)
        yield graph


def test_hostile_cells_and_columns_are_shown_unchanged():
    page = page_of(Result((HOSTILE,), ((HOSTILE,), ([HOSTILE],), ({"a": HOSTILE},))))
    assert set(page.tags) == {"div", "table", "thead", "tr", "th", "tbody", "td"}
    assert page.text.count("<img src=x onerror=alert(1)>&\\u202e$x$") == 4
    assert "mathjax_ignore" in Result((), ())._repr_html_()


def test_a_page_of_many_long_rows_is_small():
    columns = tuple(f"c{number}" for number in range(100))
    result = Result(columns, (("x" * 100_000,) * 100,) * 10_000)
    assert len(result._repr_html_()) < 500_000
    assert "9,960 more rows, 76 more columns" in page_of(result).text


def test_cells_are_formatted_for_people():
    page = page_of(Result(("n", "none", "flag"), ((1234567, None, True),)))
    assert page.text.split() == ["n", "none", "flag", "1,234,567", "null", "true"]


def test_a_result_iterates_over_rows_as_mappings():
    assert list(Result(("a", "b"), ((1, 2), (3, 4)))) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_an_answer_shows_its_title_its_notes_and_bytes_with_units(graph: Graph):
    answer = run(graph, "peak/by-op", compilation="before", limit=1)
    page = page_of(answer)
    assert answer.query.title in page.text
    assert "'before' is a run; using before/" in page.text
    assert "jit(f)/layer_0/dot 1 256 B 66.7%" in page.text
    assert list(answer) == answer.result.mappings()
    assert list(answer.to_pandas().columns) == list(answer.to_polars().columns)


def test_a_comparison_shows_totals_and_groupings_and_is_a_frame_of_all_parts(graph: Graph):
    comparison = compare(graph, "before", HOSTILE)
    page = page_of(comparison)
    assert "img" not in page.tags
    assert page.tags.count("table") == 1 + len(comparison.groups)
    assert "reserved 640 B 832 B 192 B" in page.text
    rows = list(comparison)
    assert rows[0]["part"] == "total"
    assert len(comparison.to_pandas()) == len(comparison.to_polars()) == len(rows)


def test_a_diagnosis_shows_each_finding_with_evidence_and_iterates_over_them(graph: Graph):
    diagnosis = advise(graph, "padded")
    page = page_of(diagnosis)
    assert page.tags.count("details") == 1
    assert "Padding fills the peak" in page.text
    assert "a s8[16,1]" in page.text
    assert "Padding fills the peak up to 8.0 KiB 99.8% waste/padding padded/f" in page.text
    assert "Not certain: " in page.text
    (finding,) = diagnosis
    assert (finding.advice.title, finding.bytes) == ("Padding fills the peak", 8176)
    assert list(diagnosis.to_pandas()["finding"]) == ["Padding fills the peak"]
    assert len(diagnosis.to_polars()) == 1


def test_a_diagnosis_without_findings_says_so_for_a_hostile_name(graph: Graph):
    diagnosis = advise(graph, HOSTILE)
    assert list(diagnosis) == []
    page = page_of(diagnosis)
    assert "img" not in page.tags
    assert "No findings" in page.text


def test_a_prompt_shows_an_answer_in_lines_that_fit(graph: Graph):
    answer = run(graph, "peak/by-op", compilation="before", limit=1)
    lines = repr(answer).splitlines()
    assert lines[0] == answer.query.title
    assert "jit(f)/layer_0/dot" in repr(answer)
    assert max(map(len, lines[1:4])) <= 100


def test_a_prompt_shows_the_first_rows_of_a_result_and_counts_the_others():
    wide = Result(tuple(f"column{number}" for number in range(40)), (("x" * 200,) * 40,) * 1000)
    assert len(repr(wide)) < 2000
    assert repr(wide).endswith("… and 990 more rows, 38 more columns")


def test_findings_are_short_in_a_prompt(graph: Graph):
    diagnosis = advise(graph, "padded")
    (finding,) = diagnosis
    assert repr(finding).startswith("Padding fills the peak: ")
    assert len(repr(finding)) < 1000
    first, second, *_ = repr(diagnosis).splitlines()
    assert first == "padded"
    assert second == "1. Padding fills the peak: up to 8.0 KiB"
    assert repr(advise(graph, HOSTILE)).endswith("No findings.")


def test_a_comparison_is_its_totals_and_reasons_in_a_prompt(graph: Graph):
    lines = repr(compare(graph, "before", HOSTILE)).splitlines()
    assert "reserved bytes grow by 192 B (+30.0%), from 640 B to 832 B" in lines[0]
    assert lines[3].split() == ["reserved", "640", "B", "832", "B", "192", "B"]
    assert not any(line.startswith("By ") for line in lines)


def test_a_prompt_keeps_the_beginning_of_a_sentence_and_the_end_of_a_name():
    sentence, name = "a b " * 30, "scope/" * 30 + "dot"
    text = repr(Result(("sentence", "name"), ((sentence, name),)))
    assert "a b a b" in text
    assert "scope/dot" in text
    assert text.count("…") == 2


def test_a_query_is_its_id_in_a_prompt(graph: Graph):
    assert repr(run(graph, "peak/by-op", compilation="before").query) == "<Query peak/by-op>"
