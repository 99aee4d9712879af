"""The binary search over versions, and the range that a user writes."""

import pytest

from xlagraph.ingest import VersionUnknown
from xlagraph.recording import bisect_versions, parse_package_range

VERSIONS = tuple("abcdefgh")


def search(sizes: str):
    """Search versions a, b, … that reserve 0–9 bytes; growth above 4 is bad.

    A version with `-` cannot be measured. Returns what was found, and the order of the measures.
    """
    measured = []

    def measure(version: str) -> int | None:
        measured.append(version)
        size = sizes[VERSIONS.index(version)]
        return None if size == "-" else int(size)

    found = bisect_versions(VERSIONS[: len(sizes)], measure, lambda first, other: other > first + 4)
    return found, "".join(measured)


@pytest.mark.parametrize(
    ("sizes", "good", "bad", "unknown"),
    [
        ("11119999", "d", "e", ""),
        ("19999999", "a", "b", ""),
        ("11111119", "g", "h", ""),
        ("12345678", "e", "f", ""),
        ("19", "a", "b", ""),
        ("-1111999", "e", "f", ""),
        ("1199999-", "b", "c", ""),
        ("11--9999", "b", "e", "cd"),
        ("1------9", "a", "h", "bcdefg"),
        ("11111111", "h", None, ""),
        ("111-1--1", "h", None, ""),
    ],
)
def test_the_first_bad_version_is_found_beside_those_that_cannot_be_measured(
    sizes, good, bad, unknown
):
    found, _ = search(sizes)
    assert found is not None
    assert found.good[0] == good
    assert (found.bad and found.bad[0]) == bad
    assert "".join(found.unknown) == unknown


def test_no_version_is_measured_twice_and_few_are_measured_at_all():
    _, measured = search("11119999")
    assert measured == "ahdfe"
    _, measured = search("11111111")
    assert measured == "ah"


@pytest.mark.parametrize("sizes", ["--------", "---1----"])
def test_fewer_than_two_measurements_find_nothing(sizes):
    assert search(sizes)[0] is None


def test_a_range_names_released_versions_from_the_oldest_to_the_newest():
    released = ("0.6.1", "0.6.2", "0.7.0", "0.10.2")
    range_ = parse_package_range("jax[cpu]==0.6.2..0.10.2")
    assert range_.versions(released) == ("0.6.2", "0.7.0", "0.10.2")
    assert range_.requirement("0.7.0") == "jax[cpu]==0.7.0"
    with pytest.raises(VersionUnknown, match=r"jax 0\.6 is not released .*: 0\.6\.2"):
        parse_package_range("jax==0.6..0.10.2").versions(released)
    with pytest.raises(VersionUnknown, match="expected an older and a newer version"):
        parse_package_range("jax==0.7.0..0.6.2").versions(released)


@pytest.mark.parametrize("text", ["jax", "jax==0.6.2", "jax>=0.6..0.7", "0.6..0.7", "jax==..0.7"])
def test_another_form_is_named_with_an_example(text):
    with pytest.raises(ValueError, match=r"such as jax==0\.6\.2\.\.0\.10\.2"):
        parse_package_range(text)
