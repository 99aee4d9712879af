"""A memory plan to look at: one page that opens from disk, or the same bytes for a service.

`make_report` makes the page of some compilations, or of two that are compared. The parts
of it are made by `overview_part`, `compilation_part` and `comparison_part`; `page_source`
holds what shows them.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.report.answers import advice_and_answers
    from xlagraph.report.comparison import compare_sides, comparison_part
    from xlagraph.report.compilation import compilation_part
    from xlagraph.report.overview import overview_part, read_totals
    from xlagraph.report.packed_tables import Part
    from xlagraph.report.page_source import PageSource, html_document, page_source
    from xlagraph.report.report import Report, make_report

__all__ = [
    "PageSource",
    "Part",
    "Report",
    "advice_and_answers",
    "compare_sides",
    "comparison_part",
    "compilation_part",
    "html_document",
    "make_report",
    "overview_part",
    "page_source",
    "read_totals",
]

__getattr__ = lazy_names(
    __name__,
    {
        "answers": ["advice_and_answers"],
        "comparison": ["compare_sides", "comparison_part"],
        "compilation": ["compilation_part"],
        "overview": ["overview_part", "read_totals"],
        "packed_tables": ["Part"],
        "report": ["Report", "make_report"],
        "page_source": ["PageSource", "html_document", "page_source"],
    },
)
