"""Bytes as people write and read them: binary units, and shares."""

import pytest

from xlagraph.presentation.byte_sizes import (
    change_text,
    distinct_bytes,
    human_bytes,
    known_bytes,
    parse_bytes,
    parse_share,
)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1572864, "1.5 MiB"),
        (1024**2 - 1, "1.0 MiB"),
        (-3 * 2**30, "-3.0 GiB"),
        (2**63, "8.0 EiB"),
        (2**80, "1048576.0 EiB"),
    ],
)
def test_bytes_are_written_with_binary_units(size_bytes, text):
    assert human_bytes(size_bytes) == text


def test_a_count_that_is_not_known_is_unknown():
    assert known_bytes(1 << 20) == "1.0 MiB"
    assert known_bytes(None) == "unknown"


def test_a_change_has_its_sign_and_its_share_of_the_count_before():
    assert change_text(4 << 20, 6 << 20) == "+2.0 MiB, +50.0%"
    assert change_text(4 << 20, 3 << 20) == "-1.0 MiB, -25.0%"
    assert change_text(0, 1 << 20) == "+1.0 MiB"
    assert change_text(5, 5) == "none"


def test_bytes_that_look_equal_are_written_in_full():
    assert distinct_bytes(3 << 20, 1 << 20) == ("3.0 MiB", "1.0 MiB")
    assert distinct_bytes(1 << 20, 1 << 20) == ("1.0 MiB", "1.0 MiB")
    assert distinct_bytes(1049400, 1048576) == ("1,049,400 B", "1,048,576 B")


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("1048576", 2**20),
        ("64MiB", 64 * 2**20),
        ("1.5 GiB", 3 * 2**29),
        ("2GB", 2**31),
        ("64M", 2**26),
        ("64 MB", 2**26),
        ("1G", 2**30),
        ("16gib", 2**34),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_bytes_are_read_with_any_unit(text, size_bytes):
    assert parse_bytes(text) == size_bytes


@pytest.mark.parametrize("text", ["", "MiB", "1e3", "-1", "64 MoB", "2%", "1.MiB"])
def test_invalid_numbers_of_bytes_are_refused(text):
    with pytest.raises(ValueError, match="expected bytes such as 64MiB"):
        parse_bytes(text)


def test_a_percentage_is_a_share():
    assert parse_share("2%") == 0.02
    assert parse_share("64MiB") is None
