"""Each line form matches its example, and numbers fit into 64 bits."""

import pytest

from xlagraph.ingest.carriers.text import line_forms
from xlagraph.ingest.carriers.text.line_forms import ALLOCATION, SCHEDULED, LineForm

FORMS = {name: form for name, form in vars(line_forms).items() if isinstance(form, LineForm)}


@pytest.mark.parametrize("name", FORMS)
def test_form_matches_its_example(name):
    form = FORMS[name]
    assert form.regex.fullmatch(form.example + "\n")
    assert len(form.multiline_regex.findall(f"{form.example}\n{form.example}\n")) == 2


@pytest.mark.parametrize("number", ["0", "1", "10", "999999999999999999", "9223372036854775807"])
def test_number_of_64_bits_matches(number):
    found = SCHEDULED.regex.match(f"    {number}:copy\n")
    assert found is not None
    assert found[1] == number


@pytest.mark.parametrize(
    "number", ["", "-1", "+1", "01", "1_0", "\u0661", "9223372036854775808", "10000000000000000000"]
)
def test_number_that_xla_would_not_print_does_not_match(number):
    assert not SCHEDULED.regex.match(f"    {number}:copy\n")


def test_numbers_near_the_largest_one_match_only_up_to_it():
    largest = 2**63 - 1
    for place in range(19):
        for number in (largest - 10**place, largest + 10**place, 10**place, 10**place - 1):
            fits = SCHEDULED.regex.match(f"    {number}:copy\n") is not None
            assert fits == (number <= largest), number


@pytest.mark.parametrize(
    ("line", "groups"),
    [
        (
            "allocation 7: 0x7fb16805f0d0, size 16384, parameter 1 at ShapeIndex {}:",
            {"number": "7", "address": "0x7fb16805f0d0", "parameter": "1", "index": "{}"},
        ),
        (
            "allocation 5: size 4, parameter 0, shape |(s4[], /*index=5*/s4[])| at ShapeIndex {1}:",
            {"shape": "(s4[], /*index=5*/s4[])", "index": "{1}", "output": None},
        ),
        (
            "allocation 15: size 1024, color 6, page 0, preallocated-temp:",
            {"color": "6", "page": "0", "temp": ", preallocated-temp"},
        ),
        (
            "allocation 0: size 8, parameter 2, shape |<unknown shape>| at ShapeIndex {}:",
            {"shape": "<unknown shape>"},
        ),
        (
            "allocation 0: size 8, output shape is |f32[]|, maybe-live-out:",
            {"output": "f32[]", "live_out": ", maybe-live-out", "parameter": None},
        ),
        ("allocation 0: size 8, parameter 2, thread-local:", {"thread_local": ", thread-local"}),
    ],
)
def test_allocation_line_is_split_into_fields(line, groups):
    names = (
        "number", "address", "size", "color", "page", "parameter", "shape", "index", "output",
        "constant", "thread_local", "live_out", "temp",
    )  # fmt: skip
    parts = ALLOCATION.regex.match(line + "\n")
    assert parts is not None
    found = dict(zip(names, parts.groups(), strict=True))
    assert groups.items() <= found.items()
