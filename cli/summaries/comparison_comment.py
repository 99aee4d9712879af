"""Write a comparison as a pull-request comment: verdict first, details folded."""

from collections.abc import Iterator, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.formats import escape_markdown, write_md
from xlagraph.cli.output.limits import GrowthLimit
from xlagraph.cli.summaries.comparison_sections import all_sections, temporary_rows
from xlagraph.cli.summaries.sections import Section
from xlagraph.comparison.groups import EVERYTHING_ELSE, By
from xlagraph.presentation.byte_sizes import human_bytes, share_text, signed_bytes

if TYPE_CHECKING:
    from xlagraph.comparison.compared_sides import Comparison
    from xlagraph.graph import Cell

MOST_CHARACTERS: Final = 50_000
"""Limit per comment. GitHub rejects more than 65,536 characters, and another table may follow."""
_LONGEST_CELL: Final = 160
_LONGEST_SENTENCE: Final = 600
_FEWEST_ROWS: Final = 2
_PLAIN: Final = {
    "inputs": "inputs: arguments such as weights, optimizer state, batch",
    "outputs": "outputs: results with separate memory",
    "constants": "constants",
    "live at the peak": "temporary values live at the peak",
    "idle at the peak": "temporary memory not in use at the peak",
    "fragmentation": "gaps between temporary values (fragmentation)",
    "temporary, peak unknown": "temporary memory",
}
_HEADINGS: Final = {
    "bytesA": "before",
    "bytesB": "after",
    "growthBytes": "change",
    "growthShare": "share of before",
}
_WORDS: Final = """\
- **Reserved memory** is the device memory that the compiled program takes while it runs. XLA, the
  compiler of JAX, TensorFlow and PyTorch/XLA, plans it at compile time. These figures are planned,
  not measured: they are the same for every run of the program.
- **The peak** is the step of the program at which values that are still needed use most memory.
- **Temporary values** are results between inputs and outputs, such as activations and gradients.
- **Donated** inputs give their memory to outputs: new weights replace the old ones.
- **Checkpoint** (rematerialization) recomputes values in the backward pass instead of keeping them.
- Values of the two programs are matched by operation, shape, role and place in the computation,
  not by name.
"""


def comment(comparison: "Comparison", max_growth: GrowthLimit | None, limit: int | None) -> str:
    """Return Markdown of at most `MOST_CHARACTERS` bytes in UTF-8.

    Tables have at most ``limit`` rows, and fewer if the text would be too long. Details that
    still do not fit are omitted.
    """
    head = "".join(_head(comparison, max_growth))
    rows = limit
    while True:
        details = list(_details(comparison, rows))
        length = _length(head) + sum(map(_length, details))
        if length <= MOST_CHARACTERS or (rows is not None and rows <= _FEWEST_ROWS):
            break
        rows = _most_rows(comparison) // 2 if rows is None else rows // 2
    text = head
    for detail in details:
        if _length(text) + _length(detail) <= MOST_CHARACTERS:
            text += detail
    return text


def _length(text: str) -> int:
    return len(text.encode(errors="replace"))


def _most_rows(comparison: "Comparison") -> int:
    lengths = [len(growths) for growths in comparison.groups.values()]
    return max([*lengths, len(comparison.pairs), len(comparison.unpaired), 2 * _FEWEST_ROWS])


def _head(comparison: "Comparison", max_growth: GrowthLimit | None) -> Iterator[str]:
    reserved = comparison.reserved
    yield f"**{_verdict(comparison, max_growth)}**\n\n"
    before, after = human_bytes(reserved.bytes_a or 0), human_bytes(reserved.bytes_b or 0)
    yield (
        f"{before} → {after} of device memory, as XLA plans it at compile time"
        f"{comparison.summed_over} ({_compilations(comparison)}).\n"
    )
    if comparison.sentences:
        yield "\n### Why\n\n"
        for sentence in comparison.sentences:
            text, bytes_text = sentence.line.rsplit(": ", 1)
            yield f"- **{bytes_text}** {_plain(text)}\n"
    if By.CAUSE in comparison.groups:
        yield "\n### Memory by cause\n\n"
        yield _table("", _cause_rows(comparison))


def _verdict(comparison: "Comparison", max_growth: GrowthLimit | None) -> str:
    growth = comparison.reserved
    a, b = _code(comparison.a.name), _code(comparison.b.name)
    share = "" if not growth.share else f" ({share_text(abs(growth.share))})"
    if growth.growth_bytes:
        more = "more" if growth.growth_bytes > 0 else "less"
        needs = f"{b} needs {human_bytes(abs(growth.growth_bytes))}{share} {more} memory than {a}"
    else:
        needs = f"{b} needs as much memory as {a}"
    if max_growth is None:
        return needs
    is_failed = max_growth.exceeded_by(growth)
    verdict = "failed" if is_failed else "passed"
    return f"Memory gate {verdict}: {needs}; at most {max_growth.text} more is allowed"


def _compilations(comparison: "Comparison") -> str:
    if not (comparison.a.is_run or comparison.b.is_run):
        return "one compiled program each"
    equal = sum(not pair.reserved.growth_bytes for pair in comparison.pairs)
    count = len(comparison.pairs)
    parts = [f"{count:,} compiled program{'' if count == 1 else 's'}, {equal:,} of them unchanged"]
    unpaired = [each for each in comparison.unpaired_counts if each[1]]
    return ", ".join([*parts, *(f"{count:,} only in {_code(name)}" for name, count in unpaired)])


def _cause_rows(comparison: "Comparison") -> list[tuple[str, int, int]]:
    rows = [
        (_PLAIN.get(str(cause.group[0]), str(cause.group[0])), cause.bytes_a, cause.bytes_b)
        for cause in comparison.groups[By.CAUSE]
    ]
    total = comparison.reserved
    return [*rows, ("**reserved memory**", total.bytes_a or 0, total.bytes_b or 0)]


def _details(comparison: "Comparison", limit: int | None) -> Iterator[str]:
    if comparison.groups.get(By.TEMPORARY):
        rows = [
            (_temporary(place, op), bytes_a, bytes_b)
            for place, op, bytes_a, bytes_b in temporary_rows(comparison, limit)
        ]
        if len(rows) > 1:
            table = _table("source line and operation", rows)
            yield _folded("Temporary values live at the peak, by source line and operation", table)
    commands = [sentence.command for sentence in comparison.sentences if sentence.query]
    if commands:
        lines = "\n".join(dict.fromkeys(map(escape_control_characters, commands)))
        yield _folded("Commands that show the details", f"```sh\n{lines}\n```\n")
    yield _folded("What the words mean", _WORDS)
    sections = all_sections(comparison, None, limit)
    for section in sections:
        if not section.title.startswith("By cause"):
            yield _folded(section.title, _section_table(section))


def _temporary(place: str | None, op: str | None) -> str:
    if op == EVERYTHING_ELSE:
        return op
    return " ".join(_code(part) for part in (place, op) if part) or "line and operation unknown"


def _table(heading: str, rows: Sequence[tuple[str, int, int]]) -> str:
    lines = [f"| {heading} | before | after | change |", "| --- | ---: | ---: | ---: |"]
    for name, before, after in rows:
        growth = after - before
        change = "0" if not growth else signed_bytes(growth)
        cells = [
            text.replace(" ", "\xa0") for text in (human_bytes(before), human_bytes(after), change)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _section_table(section: Section) -> str:
    rows = [[_short(cell) for cell in row] for row in section.rows]
    stream = StringIO()
    write_md(section.columns, rows, stream)
    heading, table = stream.getvalue().split("\n", 1)
    for column, name in _HEADINGS.items():
        heading = heading.replace(f" {column} ", f" {name} ")
    return f"{heading}\n{table}".replace("@", "@\u200b")


def _folded(title: str, body: str) -> str:
    summary = escape(escape_control_characters(_short_text(title)))
    return f"\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n"


def _short(cell: "Cell") -> "Cell":
    return _short_text(cell) if isinstance(cell, str) else cell


def _short_text(text: str, longest: int = _LONGEST_CELL) -> str:
    """Cut the middle of a long text; the ends of paths and op names matter most."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def _code(name: str) -> str:
    """Return a name as code, without markup, mentions and references."""
    text = escape_control_characters(_short_text(name)).replace("`", "'").replace("|", "\\|")
    return f"`{text}`" if text.strip() else "` `"


def _plain(text: str) -> str:
    """Return a sentence with names that are neither markup nor mentions."""
    escaped = escape_markdown(escape_control_characters(_short_text(text, _LONGEST_SENTENCE)))
    return escaped.replace("@", "@\u200b")
