"""Tables of the judged programs, in Markdown."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.accuracy.judging import JudgedFinding, JudgedVariant, Truth

BEGIN: Final = "<!-- written by python -m benchmarks.accuracy --write-page -->"
HEADER_LINES: Final = 2
Judged = TypeVar("Judged", JudgedFinding, JudgedVariant)
END: Final = "<!-- end of what is written -->"


def tables(variants: list[JudgedVariant], versions: str, day: date) -> str:
    """Return the tables of all judged variants, with the day on which they were judged."""
    parts = {
        "": _summary,
        "By cause; the last column counts findings with an edit in the script:": _by_kind,
        "Each planted mistake, with the first finding that names it:": _programs,
        "Other fixes that these findings describe:": _fixes,
        "Promises that did not come true in programs with mistakes:": _unproved,
        "Findings in healthy programs:": _healthy,
        "Predictions of `whatif`:": _predictions,
    }
    shown = ((caption, list(part(variants))) for caption, part in parts.items())
    text = "\n\n".join(
        f"{caption}\n\n{lines}".lstrip()
        for caption, rows in shown
        if (lines := "\n".join(rows)) and len(rows) > HEADER_LINES
    )
    programs = len({each.program for each in variants})
    return f"{text}\n\nJudged on {day}: {programs} programs. Versions: {versions}."


def write_page(page: Path, text: str) -> None:
    """Replace what stands between the two marks of a page."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def _planted(variants: Iterable[JudgedVariant]) -> list[JudgedVariant]:
    return [
        each for each in variants if each.findings_asked and each.flag and each.is_worth_finding
    ]


def _findings(variants: Iterable[JudgedVariant]) -> list[JudgedFinding]:
    return [found for each in variants for found in each.findings]


def _summary(variants: list[JudgedVariant]) -> Iterator[str]:
    planted = _planted(variants)
    healthy = [each for each in variants if each.flag is None]
    promised = [found for found in _findings(variants) if found.expected_bytes]
    checked = [found for found in promised if found.truth not in (Truth.UNKNOWN, Truth.NOT_PLANTED)]
    predicted = [each for each in variants if each.predicted_bytes is not None]
    yield "| question | yes | of |"
    yield "|---|---:|---:|"
    yield _count("the planted mistake is named", planted, lambda it: it.rank is not None)
    yield _count("the first finding is the planted mistake", planted, lambda it: it.rank == 1)
    yield _count(
        "the first sentence of `compare` names the mistake",
        planted,
        lambda it: it.is_named_by_compare is True,
    )
    yield _count(
        "a finding with an edit in the script comes true within a factor of two",
        checked,
        lambda it: it.truth is Truth.CONFIRMED,
    )
    yield _count(
        "a finding promises bytes for a mistake that is not in the program",
        promised,
        lambda it: it.truth is Truth.NOT_PLANTED,
    )
    yield _count("a healthy program has no findings", healthy, lambda it: not it.findings)
    yield _count(
        "a prediction of `whatif` is within 1.5 % of the reserved bytes",
        predicted,
        lambda it: it.prediction_error <= 0.015,
    )


def _count(question: str, of: list[Judged], is_so: Callable[[Judged], bool]) -> str:
    return f"| {question} | {sum(map(is_so, of))} | {len(of)} |"


def _by_kind(variants: list[JudgedVariant]) -> Iterator[str]:
    named: Counter[str] = Counter()
    first: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    promised: defaultdict[str, list[JudgedFinding]] = defaultdict(list)
    for each in _planted(variants):
        kind = str(each.kind)
        planted[kind] += 1
        named[kind] += each.rank is not None
        first[kind] += each.rank == 1
        compared[kind] += each.is_named_by_compare is True
    for found in _findings(variants):
        if found.kind and found.expected_bytes and found.real_bytes is not None:
            promised[found.kind].append(found)
    yield "| cause | planted | named | named first | `compare` names it | within a factor of two |"
    yield "|---|---:|---:|---:|---:|---:|"
    for kind in sorted(planted):
        true = sum(found.truth is Truth.CONFIRMED for found in promised[kind])
        counts = (planted[kind], named[kind], first[kind], compared[kind])
        shown = " | ".join(map(str, counts))
        yield f"| {kind} | {shown} | {true} of {len(promised[kind])} |"


def _programs(variants: list[JudgedVariant]) -> Iterator[str]:
    yield "| program | planted mistake | costs | rank of its finding | expected | `compare` |"
    yield "|---|---|---:|---:|---:|---|"
    for each in _planted(variants):
        found = each.findings[each.rank - 1] if each.rank else None
        expected = mib(found.expected_bytes) if found else ""
        compared = "named" if each.is_named_by_compare else "not named"
        yield (
            f"| {each.program} | {each.flag} | {mib(each.costs_bytes)}"
            f" | {each.rank or 'missed'} | {expected} | {compared} |"
        )


def _fixes(variants: list[JudgedVariant]) -> Iterator[str]:
    yield "| program | mistake | another fix | expected | recompiled |"
    yield "|---|---|---|---:|---:|"
    for each in variants:
        if each.other_fix_bytes is not None:
            expected = mib(each.findings[each.rank - 1].expected_bytes) if each.rank else "missed"
            saved = mib(each.other_fix_bytes)
            yield f"| {each.program} | {each.flag} | {each.other_fix} | {expected} | {saved} |"


def _unproved(variants: list[JudgedVariant]) -> Iterator[str]:
    yield "| program | planted mistake | finding that did not come true | expected | recompiled |"
    yield "|---|---|---|---:|---|"
    for each in variants:
        for found in each.findings if each.flag else ():
            wrong = found.truth not in (Truth.CONFIRMED, Truth.UNKNOWN)
            if wrong and found.expected_bytes:
                truth = found.truth if found.real_bytes is None else mib(found.real_bytes)
                expected = mib(found.expected_bytes)
                yield f"| {each.program} | {each.flag} | {found.title} | {expected} | {truth} |"


def _healthy(variants: list[JudgedVariant]) -> Iterator[str]:
    yield "| healthy program | finding | expected | recompiled |"
    yield "|---|---|---:|---|"
    for each in variants:
        if each.flag is None:
            for found in each.findings:
                truth = found.truth if found.real_bytes is None else mib(found.real_bytes)
                yield f"| {each.program} | {found.title} | {mib(found.expected_bytes)} | {truth} |"
            if not each.findings:
                yield f"| {each.program} | none | | |"


def _predictions(variants: list[JudgedVariant]) -> Iterator[str]:
    yield "| program | `whatif` | predicted | recompiled | error |"
    yield "|---|---|---:|---:|---:|"
    for each in variants:
        if each.prediction:
            predicted = mib(each.predicted_bytes) if each.predicted_bytes is not None else "error"
            error = f"{each.prediction_error:.1%}" if each.predicted_bytes is not None else ""
            question = each.prediction.removeprefix("whatif ")
            real = mib(each.saved_bytes)
            yield f"| {each.program} | {question} | {predicted} | {real} | {error} |"


def mib(count: int) -> str:
    """Return a size in MiB."""
    return f"{count / 2**20:,.1f} MiB"
