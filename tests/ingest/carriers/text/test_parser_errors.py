"""Each broken rule is reported with the place, the text and the expectation."""

import pickle

import pytest

from tests.ingest.carriers.text.broken_rules import BROKEN_RULES, BrokenRule, edited
from tests.ingest.carriers.text.sample_dumps import GLUED, NEW, sample
from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.ingest.errors import ParseError


def error_of(*texts):
    with pytest.raises(ParseError) as caught:
        parse_plan(
            [DumpPart(f"{name}.txt", text) for name, text in zip("abc", texts, strict=False)]
        )
    return caught.value


@pytest.mark.parametrize("rule", BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_broken_rule_is_reported_with_its_place(rule: BrokenRule):
    error = error_of(rule.text)
    assert (error.file, error.line) == ("a.txt", rule.line)
    assert error.text.startswith(rule.beginning[:80])
    assert bool(error.text) == bool(rule.beginning)
    assert rule.expected in error.expected


def test_message_names_file_line_expectation_and_text():
    error = error_of(edited(NEW, "    2:add.3", "    1:add.3"))
    assert str(error) == "a.txt:44: expected step 2 of the schedule, found '    1:add.3'"


def test_message_at_the_end_of_a_file_mentions_the_end():
    assert str(error_of("BufferAssignment:\n")).endswith(", found the end of the file")


def test_text_of_an_error_is_cut_at_80_characters():
    error = error_of(edited(NEW, "\nallocation 1: size", "\n" + "x" * 200))
    assert error.text == "x" * 80


def test_error_is_unchanged_by_pickling():
    error = error_of("nothing\n")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.line) == (str(error), error.line)


def test_error_in_a_file_with_blank_lines_everywhere_names_the_line_of_the_file():
    error = error_of(edited(NEW, "    2:add.3", "    1:add.3").replace("\n", "\n\n"))
    assert (error.line, error.text) == (87, "    1:add.3")


def test_error_in_a_companion_names_that_file():
    allocations, _, rest = NEW.partition("\nTotal")
    assert error_of(allocations, f"Total{rest}".replace("2:add.3", "1:add.3")).file == "b.txt"


def test_a_peak_lists_all_its_values_with_indices_or_all_without():
    error = error_of(edited(GLUED, "    arg1.2: 16 bytes", "    arg0.1{}: 16 bytes"))
    assert error.text == "    arg0.1{}: 16 bytes"
    assert error.expected == "a value live at step 3, each listed once"


def test_companions_without_allocations_are_refused():
    _, _, rest = NEW.partition("\nTotal")
    error = error_of(f"\nTotal{rest}")
    assert (error.line, error.text) == (2, "Total bytes used: 56 (56B)")
    assert "BufferAssignment:" in error.expected


def test_section_in_two_files_is_refused():
    allocations, _, rest = NEW.partition("\nTotal")
    error = error_of(allocations, f"Total{rest}", f"Total{rest}")
    assert (error.file, error.line) == ("c.txt", 1)
    assert error.expected == "the used values in only one file of the dump"


def test_companion_that_is_empty_is_refused():
    assert error_of(NEW, "").expected.startswith("the first line of a dump or the total or")


@pytest.mark.parametrize("name", ["jaxlib-0.9.2", "jaxlib-0.4.30", "tensorflow-1.15"])
def test_cut_within_a_line_is_an_error(name):
    text = sample(name)
    for length in range(1, len(text)):
        if text[length - 1] != "\n":
            error_of(text[:length])


def test_cut_within_a_line_that_still_matches_is_reported_as_a_cut():
    error = error_of(GLUED.removesuffix("\n"))
    assert (error.line, error.text) == (51, "    tuple.4: 8 bytes")
    assert error.expected == "the end of this line: the file is cut here"


def test_cut_between_lines_is_an_error_except_between_sections():
    lines = GLUED.splitlines(keepends=True)
    uncut = []
    for count in range(1, len(lines)):
        try:
            parse_plan([DumpPart("a.txt", "".join(lines[:count]))])
        except ParseError:
            continue
        uncut.append(lines[count - 1][:28])
    # The end of the allocations is not marked; blank lines belong to the section before them.
    assert uncut == [
        "allocation 0: size 16, param",
        " value: <0 arg0.1 @0> (size=",
        "allocation 1: size 16, param",
        " value: <1 arg1.2 @0> (size=",
        "allocation 2: size 16, maybe",
        " value: <2 add.3 @0> (size=1",
        "allocation 3: size 8, output",
        " value: <3 tuple.4{} @0> (si",
        "\n",
        " from instruction: %tuple.4 ",
        "\n",
    ]


def test_an_error_about_a_very_long_line_says_its_length():
    with pytest.raises(ParseError) as raised:
        parse_plan([DumpPart("f.txt", "B" * 20_000 + "\n")])
    assert raised.value.message.endswith(f"found '{'B' * 80}'… (20,000 characters)")
