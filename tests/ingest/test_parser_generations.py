"""Every generation of the text, one sample each, says the same of the same tiny program.

``add.3`` of two parameters is returned in ``tuple.4``. A sample differs from its neighbours
in what its producer left out and in the spelling.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from xlagraph.ingest.dump.parser import parse_plan
from xlagraph.ingest.dump.plan import (
    Allocation,
    LiveRange,
    LiveRanges,
    ParameterStorage,
    Plan,
    Position,
    PrintedPeak,
    PrintedPeakEntry,
    Style,
    TotalBytes,
    Use,
    UsedValue,
    Value,
)
from xlagraph.ingest.dump.text import DumpPart

SAMPLES = Path(__file__).parent / "samples"

TREE = (
    "  Stack trace breakdown for peak usage: 56 bytes",
    "    main.5 (100.0%, total: 56 bytes, current: 0 bytes, remaining: 56 bytes)",
    "      ├── jit(f)/add (28.6%, total: 16 bytes, current: 16 bytes, remaining: 40 bytes)",
    "      └── é (71.4%, total: 40 bytes, current: 40 bytes, remaining: 0 bytes)",
)
METADATA = 'metadata={op_name="jit(<lambda>)/add"}'
WITH_OPERAND_SHAPES = {
    "arg0.1": "f32[4]{0} parameter(0)",
    "arg1.2": "f32[4]{0} parameter(1)",
    "add.3": f"f32[4]{{0}} add(f32[4]{{0}} %arg0.1, f32[4]{{0}} %arg1.2), {METADATA}",
    "tuple.4": "(f32[4]{0}) tuple(f32[4]{0} %add.3)",
}
WITHOUT_OPERAND_SHAPES = {
    **WITH_OPERAND_SHAPES,
    "add.3": f"f32[4]{{0}} add(%arg0.1, %arg1.2), {METADATA}",
    "tuple.4": "(f32[4]{0}) tuple(%add.3)",
}
VALUES = (
    Value(0, "arg0.1", None, False, 0, 0, 0, 16, "f32[4]{0}"),
    Value(1, "arg1.2", None, False, 0, 1, 0, 16, "f32[4]{0}"),
    Value(2, "add.3", None, False, 0, 2, 0, 16, "f32[4]{0}"),
    Value(3, "tuple.4", "{}", False, 0, 3, 0, 8, "(f32[4]{0})"),
)
USED_VALUES = (
    UsedValue(0, (Position("arg0.1", None),), (Use("add.3", 0, None),)),
    UsedValue(1, (Position("arg1.2", None),), (Use("add.3", 1, None),)),
    UsedValue(2, (Position("add.3", None), Position("tuple.4", "{0}")), (Use("tuple.4", 0, None),)),
    UsedValue(3, (Position("tuple.4", "{}"),), ()),
)


def allocations(addresses=(None, None, None, None), shapes=True, page=None):
    whole, leaf = ("(f32[4])", "f32[4]") if shapes else (None, None)
    return tuple(
        Allocation(number, size, address, 0, page, parameter, output, maybe_live_out=not parameter)
        for number, (address, size, parameter, output) in enumerate(
            zip(
                addresses,
                (16, 16, 16, 8),
                (ParameterStorage(0, leaf, "{}"), ParameterStorage(1, leaf, "{}"), None, None),
                (None, None, None, whole),
                strict=True,
            )
        )
    )


def live_ranges(index=None, cumulative=(None, None, None, None), stack_trace=None):
    names = ("arg0.1", "arg1.2", "add.3", "tuple.4")
    steps = ((0, 4), (0, 4), (2, 4), (3, 4))
    entries = zip(names, (16, 16, 16, 8), cumulative, strict=True)
    return LiveRanges(
        max_step=4,
        schedule=names,
        ranges=tuple(LiveRange(name, "{}", *span) for name, span in zip(names, steps, strict=True)),
        peak=PrintedPeak(
            3,
            tuple(PrintedPeakEntry(name, index, size, so_far) for name, size, so_far in entries),
            stack_trace,
        ),
    )


ADDRESSES = ("0x55a580241600", "0x55a580241610", "0x55a580241620", "0x55a580241630")
UNKNOWN = TotalBytes(56, None)
TOTAL = TotalBytes(56, "56B")
CUMULATIVE = (16, 32, 48, 56)
COMPANIONS = ("allocations",), ("used values",), ("live ranges",)
WITHOUT_RANGES = (("allocations", "used values"),)
ONE_FILE = (("allocations", "used values", "live ranges"),)

IN_FUSION = VALUES[2]._replace(name="fusion.3", shape_index="{0}")
MERGED = VALUES[2]._replace(is_phi=True)
EMPTY_SPACE = Allocation(4, 0, color=1, page=0, is_preallocated_temp=True)

# allocations, values, total, used values, instructions, live ranges
EXPECTED = {
    "tensorflow-1.14": Plan(
        allocations(
            ("0x7fb16805f0d0", "0x7fb16805f180", "0x7fb16805f230", "0x7fb16805f2e0"), shapes=False
        ),
        (*VALUES[:2], IN_FUSION, VALUES[3]),
        None,
        None,
        {},
        None,
    ),
    "tensorflow-1.15": Plan(
        allocations(
            ("0x7fa4700721e0", "0x7fa470072290", "0x7fa470072340", "0x7fa4700723f0"), shapes=False
        ),
        (*VALUES[:2], MERGED, VALUES[3]),
        None,
        USED_VALUES,
        {},
        None,
    ),
    "tensorflow-2.1": Plan(
        allocations(ADDRESSES, shapes=False), VALUES, UNKNOWN, USED_VALUES, {}, None
    ),
    "tensorflow-2.3": Plan(allocations(ADDRESSES), VALUES, UNKNOWN, USED_VALUES, {}, None),
    "tensorflow-2.6": Plan(allocations(ADDRESSES), VALUES, UNKNOWN, USED_VALUES, {}, live_ranges()),
    "tensorflow-2.10": Plan(
        allocations(ADDRESSES), VALUES, TOTAL, USED_VALUES, WITH_OPERAND_SHAPES, live_ranges()
    ),
    **dict.fromkeys(
        ("jaxlib-0.4.23", "jaxlib-0.4.30", "jaxlib-0.5.0"),
        Plan(allocations(), VALUES, TOTAL, USED_VALUES, WITH_OPERAND_SHAPES, live_ranges()),
    ),
    "jaxlib-0.5.3": Plan(
        allocations(), VALUES, TOTAL, USED_VALUES, WITHOUT_OPERAND_SHAPES, live_ranges()
    ),
    "jaxlib-0.6.0": Plan(
        allocations(), VALUES, TOTAL, USED_VALUES, WITHOUT_OPERAND_SHAPES, live_ranges("{}")
    ),
    "jaxlib-0.6.2": Plan(
        allocations(),
        VALUES,
        TOTAL,
        USED_VALUES,
        WITHOUT_OPERAND_SHAPES,
        live_ranges("{}", CUMULATIVE),
    ),
    **dict.fromkeys(
        ("jaxlib-0.9.2", "jaxlib-0.10.0", "jaxlib-0.10.2"),
        Plan(
            allocations(),
            VALUES,
            TOTAL,
            USED_VALUES,
            WITHOUT_OPERAND_SHAPES,
            live_ranges("{}", CUMULATIVE, TREE),
        ),
    ),
    "jaxlib-0.12.0": Plan(
        (*allocations(page=0), EMPTY_SPACE),
        VALUES,
        TOTAL,
        USED_VALUES,
        WITHOUT_OPERAND_SHAPES,
        live_ranges("{}", CUMULATIVE, TREE),
    ),
}

# sections of each file, form of values, prefix of instructions, glued, '(none)'
STYLES = {
    "tensorflow-1.14": ((("allocations",),), "logical buffer", None, False, False),
    "tensorflow-1.15": ((("allocations",),), "multi-line value", None, False, False),
    **dict.fromkeys(
        ("tensorflow-2.1", "tensorflow-2.3"), (WITHOUT_RANGES, "value", None, False, False)
    ),
    "tensorflow-2.6": (ONE_FILE, "value", None, False, False),
    **dict.fromkeys(
        ("tensorflow-2.10", "jaxlib-0.4.23"),
        (ONE_FILE, "value", " from instruction:%", False, False),
    ),
    "jaxlib-0.4.30": (ONE_FILE, "value", " from instruction: %", True, False),
    **dict.fromkeys(
        ("jaxlib-0.5.0", "jaxlib-0.5.3", "jaxlib-0.6.0", "jaxlib-0.6.2", "jaxlib-0.9.2"),
        (ONE_FILE, "value", " from instruction: %", False, False),
    ),
    "jaxlib-0.10.0": (COMPANIONS, "value", " from instruction: %", False, False),
    **dict.fromkeys(
        ("jaxlib-0.10.2", "jaxlib-0.12.0"),
        (COMPANIONS, "value", " from instruction: %", False, True),
    ),
}


def parsed(sample):
    suffixes = ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt")
    paths = [SAMPLES / (sample + suffix) for suffix in suffixes]
    return parse_plan(
        [DumpPart(path.name, path.read_text("utf-8")) for path in paths if path.exists()]
    )


def test_every_sample_has_an_expected_plan():
    suffix = "-buffer-assignment.txt"
    samples = {path.name.removesuffix(suffix) for path in SAMPLES.glob(f"*{suffix}")}
    assert samples == set(EXPECTED) == set(STYLES)


@pytest.mark.parametrize("sample", EXPECTED)
def test_sample_says_what_its_generation_prints(sample):
    assert replace(parsed(sample), style=Style()) == EXPECTED[sample]


@pytest.mark.parametrize("sample", STYLES)
def test_sample_is_spelled_as_its_generation_spells(sample):
    style = parsed(sample).style
    assert STYLES[sample] == (
        tuple(part.sections for part in style.parts),
        style.value_form,
        style.instruction_prefix,
        style.is_glued,
        style.says_none,
    )
