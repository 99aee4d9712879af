"""Parts of a page are compressed typed columns; the same rows give the same bytes."""

import gzip
import json
import math
import struct
from typing import Any

from xlagraph.graph import Cell
from xlagraph.report.packed_tables import LONGEST_TEXT, ColumnKind, PackedColumn, PagePart


def unpacked(part: PagePart) -> tuple[dict[str, Any], bytes]:
    whole = gzip.decompress(part.packed())
    length = int.from_bytes(whole[:4], "little")
    return json.loads(whole[4 : 4 + length]), whole[4 + length :]


def cells(part: PagePart, code: str) -> tuple[Any, ...]:
    head, blocks = unpacked(part)
    column = head["tables"]["t"]["columns"]["c"]
    rows = head["tables"]["t"]["rows"]
    return struct.unpack_from(f"<{rows}{code}", blocks, column["offset"])


def one_column(kind: ColumnKind, *given: Cell) -> PagePart:
    return PagePart(facts={}, tables={"t": {"c": PackedColumn(kind, given)}})


def test_bytes_are_exact() -> None:
    large, unknown = cells(one_column(ColumnKind.WIDE_NUMBER, 2**53 - 1, None), "d")
    assert large == 2**53 - 1
    assert math.isnan(unknown)


def test_unknown_numbers_and_flags_have_a_reserved_value() -> None:
    assert cells(one_column(ColumnKind.NUMBER, 0, None), "i") == (0, -(2**31))
    assert cells(one_column(ColumnKind.FLAG, True, False, None), "B") == (1, 0, 2)


def test_numbers_beyond_32_bits_are_as_wide_as_bytes() -> None:
    part = one_column(ColumnKind.NUMBER, 99_999_999_999, 7, None)
    assert unpacked(part)[0]["tables"]["t"]["columns"]["c"]["kind"] == "wide"
    large, small, unknown = cells(part, "d")
    assert (large, small) == (99_999_999_999, 7)
    assert math.isnan(unknown)


def test_a_text_is_an_index_into_the_strings() -> None:
    part = one_column(ColumnKind.TEXT, "a", None, "b", "a")
    assert unpacked(part)[0]["strings"] == ["", "a", "b"]
    assert cells(part, "B") == (1, 0, 2, 1)


def test_many_texts_have_wider_indices() -> None:
    part = one_column(ColumnKind.TEXT, *(str(number) for number in range(300)))
    assert unpacked(part)[0]["tables"]["t"]["columns"]["c"]["kind"] == "text16"
    assert cells(part, "H") == tuple(range(1, 301))


def test_a_long_text_is_cut_and_its_length_is_shown() -> None:
    part = one_column(ColumnKind.TEXT, "x" * 1_000_000)
    (_, text) = unpacked(part)[0]["strings"]
    assert text == "x" * LONGEST_TEXT + "… (1,000,000 characters)"


def test_columns_are_aligned_to_eight_bytes() -> None:
    part = PagePart(
        facts={},
        tables={
            "t": {
                "a": PackedColumn(ColumnKind.FLAG, [True]),
                "b": PackedColumn(ColumnKind.WIDE_NUMBER, [1]),
            }
        },
    )
    head, blocks = unpacked(part)
    assert head["tables"]["t"]["columns"]["b"]["offset"] == 8
    assert len(blocks) == 16


def test_the_same_part_packs_to_the_same_bytes() -> None:
    part = one_column(ColumnKind.TEXT, "a", "b")
    assert part.packed() == one_column(ColumnKind.TEXT, "a", "b").packed()
