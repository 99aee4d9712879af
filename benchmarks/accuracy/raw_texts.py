"""A text for each program: planted mistakes, answers in full, and the truth."""

from collections.abc import Iterator

from benchmarks.accuracy.answers import text_of
from benchmarks.accuracy.compile_program import variant_name
from benchmarks.accuracy.judging import JudgedProgram, JudgedVariant


def mib(count: int | None) -> str:
    """Return a size in MiB, with its sign if negative."""
    return "?" if count is None else f"{count / 2**20:,.1f} MiB"


def raw_text(program: JudgedProgram, variants: list[JudgedVariant], with_answers: bool) -> str:
    """Return the verdicts on a program's variants, with the answers as the command shows them."""
    lines = [f"# {program.name}", *_verdicts(variants)]
    return "\n".join([*lines, *(_answers(program, variants) if with_answers else ())]) + "\n"


def _verdicts(variants: list[JudgedVariant]) -> Iterator[str]:
    for each in variants:
        name = variant_name({each.flag} if each.flag else ())
        yield f"\n## {name}: {mib(each.reserved_bytes)}, {mib(each.costs_bytes)} more than healthy"
        if each.kind in ("batch", None) and each.flag:
            yield f"edit of kind {each.kind}"
        elif each.flag:
            rank = f"rank {each.rank}" if each.rank else "NOT NAMED"
            least = "" if each.is_worth_finding else " (costs less than 5 %)"
            yield f"planted: {each.kind}; advise: {rank}{least}"
            named = "names it" if each.is_named_by_compare else "does not name it"
            yield f"compare {named}: {each.sentence}"
        for rank_, found in enumerate(each.findings, 1):
            doubt = f" (doubt: {found.doubt})" if found.doubt else ""
            yield (
                f"  {rank_}. {found.title}: expected {mib(found.expected_bytes)},"
                f" real {mib(found.real_bytes)}: {found.truth}{doubt}"
            )
        if each.other_fix_bytes is not None:
            yield f"  the other fix, {each.other_fix}, saves {mib(each.other_fix_bytes)}"
        if each.prediction:
            predicted, real = mib(each.predicted_bytes), mib(each.saved_bytes)
            yield f"  {each.prediction}: predicted {predicted}, real {real}"


def _answers(program: JudgedProgram, variants: list[JudgedVariant]) -> Iterator[str]:
    for each in variants:
        name = variant_name({each.flag} if each.flag else ())
        if each.flag in (None, *program.program.mistakes):
            yield f"\n{'=' * 100}\n$ xlagraph advise {name}\n"
            yield text_of(program.graph, "advise", name)
        if each.flag in program.program.mistakes:
            yield f"$ xlagraph compare healthy {name}\n"
            yield text_of(program.graph, "compare", "healthy", name).partition("\nTotals")[0]
