"""The tables of accuracy count planted mistakes, promises and predictions."""

from datetime import date

from benchmarks.accuracy.judging import JudgedFinding, JudgedVariant, Truth
from benchmarks.accuracy.kinds import is_meant, is_named
from benchmarks.accuracy.tables import BEGIN, END, tables, write_page

MIB = 2**20


def variant(flag, kind, costs, *findings, **others):
    return JudgedVariant("lstm", flag, kind, 100 * MIB, costs * MIB, list(findings), True, **others)


def finding(kind, expected, real, truth):
    real_bytes = None if real is None else real * MIB
    return JudgedFinding(f"about {kind}", kind, expected * MIB, None, real_bytes, truth)


def lines(*variants):
    return tables(list(variants), "jax 0.10.2", date(2026, 11, 25)).splitlines()


def test_a_mistake_is_named_by_a_finding_of_its_kind_and_found_first_at_rank_one():
    found = lines(
        variant("no donation", "donation", 20, finding("donation", 20, 20, Truth.CONFIRMED)),
        variant("swap", "swap", 20, finding("logits", 5, None, Truth.NOT_PLANTED)),
    )
    assert "| the planted mistake is named | 1 | 2 |" in found
    assert "| the first finding is the planted mistake | 1 | 2 |" in found
    assert "| lstm | swap | 20.0 MiB | missed |  | not named |" in found
    assert "| a finding promises bytes for a mistake that is not in the program | 1 | 2 |" in found


def test_a_mistake_that_costs_less_than_a_twentieth_is_not_counted():
    assert "| the planted mistake is named | 0 | 0 |" in lines(variant("swap", "swap", 4))


def test_a_prediction_is_compared_with_the_recompiled_program():
    exact = variant("a", "donation", 20, predicted_bytes=21 * MIB, prediction="whatif a --donate")
    wrong = variant("b", "donation", 20, predicted_bytes=30 * MIB, prediction="whatif b --donate")
    found = lines(exact, wrong)
    assert "| a prediction of `whatif` is within 1.5 % of the reserved bytes | 1 | 2 |" in found
    assert "| lstm | b --donate | 30.0 MiB | 20.0 MiB | 10.0% |" in found


def test_the_tables_replace_only_what_is_between_the_marks(tmp_path):
    page = tmp_path / "accuracy.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_page(page, "new")
    assert page.read_text("utf-8") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_words_of_a_kind_are_searched_in_titles_and_sentences():
    assert is_meant("donation", "Inputs could be donated to outputs")
    assert is_named("constant", "1 new constant: +19.5 MiB")
    assert not is_named("swap", "1 new constant: +19.5 MiB")
