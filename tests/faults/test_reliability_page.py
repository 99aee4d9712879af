"""Each promise of docs/reliability.md names tests that exist; each test here holds a promise."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "reliability.md").read_text()
NAMED = set(re.findall(r"`(test_\w+)`", PAGE))


def names_below(folder: Path) -> set[str]:
    return {
        name
        for path in folder.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }


def test_every_promise_names_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith("| promise")]
    assert promises
    for row in promises:
        assert "`test_" in row or "tests above" in row, row


def test_every_test_that_is_named_exists():
    assert NAMED - names_below(TESTS) == set()


def test_every_test_of_faults_holds_a_promise():
    about_the_page = {name for name in names_below(TESTS / "faults") if "promise" in name}
    helping = {
        "test_every_test_that_is_named_exists",
        "test_every_sample_is_whole_before_it_is_damaged",
    }
    assert names_below(TESTS / "faults") - NAMED - about_the_page - helping == set()
