"""Interactive pages of memory plans, as one file or served over HTTP.

`make_report` builds the page of compilations, or a comparison of two. `overview_part`,
`compilation_part` and `comparison_part` build its data, `page_source` its script and style.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.report.answers import advice_and_answers
    from xlagraph.report.comparison import compare_sides, comparison_part
    from xlagraph.report.compilation import compilation_part
    from xlagraph.report.overview import overview_part, read_totals
    from xlagraph.report.packed_tables import PagePart
    from xlagraph.report.page_source import PageSource, html_document, page_source
    from xlagraph.report.report import Report, make_report

__all__ = [
    "PagePart",
    "PageSource",
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

__getattr__ = lazy_names(__name__)
