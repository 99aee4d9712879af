"""The rules that a dump can break: a small valid dump, and one edit that breaks a rule.

A case is the dump, the old text and its replacement; then the line that the error names, the
beginning of this line, and a part of the expectation in the error.
"""

from typing import NamedTuple

from tests.ingest.carriers.text.sample_dumps import GLUED, LOGICAL, MULTI_LINE, NEW, UNSAID

BIG = str(2**63)
LARGEST = 2**63 - 1

LEAVES = """BufferAssignment:
allocation 0: size 8, constant:
 value: <1 arg{} @0> (size=8,offset=0): (f32[])
 value: <2 arg{0} @0> (size=4,offset=0): f32[]
 value: <3 x @0> (size=4,offset=4): f32[]
Total bytes used: 8
Used values:
<1 arg{} @0>
 positions:
  arg {}
 uses:
 from instruction: %arg = (f32[]) parameter(0)
<2 arg{0} @0>
 positions:
  arg {0}
 uses:
 from instruction: %arg = (f32[]) parameter(0)
<3 x @0>
 positions:
  x
 uses:
 from instruction: %x = f32[] parameter(1)
"""


class BrokenRule(NamedTuple):
    """A dump, the edit that breaks it, and the expected error."""

    dump: str
    old: str
    new: str
    line: int
    beginning: str
    expected: str

    @property
    def text(self) -> str:
        return edited(self.dump, self.old, self.new)


def edited(text, old, new):
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


CASES: dict[str, tuple[str, str, str, tuple[int, str, str]]] = {
    "a line that matches no form": (
        NEW,
        "\nallocation 1: size 16",
        "\nallocation one: size 16",
        (4, "allocation one: size 16", "an allocation or a value or the total"),
    ),
    "a line that no section has": (
        NEW,
        "\nUsed values:",
        "\nUsed buffers:",
        (13, "Used buffers:", "the header of the used values like 'Used values:'"),
    ),
    "the first line": (
        NEW,
        "BufferAssignment:",
        "BufferAllocation:",
        (1, "BufferAllocation:", "the first line of a dump like 'BufferAssignment:'"),
    ),
    "an allocation number twice": (
        NEW,
        "\nallocation 1: size 16",
        "\nallocation 0: size 16",
        (4, "allocation 0: size 16", "an allocation number that no earlier line has"),
    ),
    "a value id twice": (
        NEW,
        " value: <1 arg1.2 @0>",
        " value: <0 arg1.2 @0>",
        (5, " value: <0 arg1.2 @0>", "a value id that no earlier line has"),
    ),
    "a value outside its allocation": (
        NEW,
        "<2 add.3 @0> (size=16,offset=0)",
        "<2 add.3 @0> (size=16,offset=1)",
        (7, " value: <2 add.3 @0> (size=16,offset=1)", "within the 16 bytes of its allocation"),
    ),
    "a number beyond 64 bits": (
        NEW,
        "allocation 0: size 16",
        f"allocation 0: size {BIG}",
        (2, f"allocation 0: size {BIG}", "numbers that fit into 64 bits with a sign"),
    ),
    "a number far beyond 64 bits": (
        NEW,
        "add.3, operand 0",
        f"add.3, operand {'9' * 5000}",
        (18, "  add.3, operand 999", "numbers that fit into 64 bits with a sign"),
    ),
    "allocations beyond 64 bits in all": (
        NEW,
        "allocation 0: size 16",
        f"allocation 0: size {LARGEST}",
        (1, "BufferAssignment:", "sizes that add up to less than 2^63 bytes"),
    ),
    "a printed peak beyond 64 bits in all": (
        NEW,
        "add.3{}: 16 bytes",
        f"add.3{{}}: {LARGEST} bytes",
        (51, "  Live ranges at 3 (peak):", "sizes that add up to less than 2^63 bytes"),
    ),
    "a number with leading zeros": (
        NEW,
        "(size=16,offset=0)",
        "(size=16,offset=00)",
        (3, " value: <0 arg0.1 @0> (size=16,offset=00)", "an allocation or a value"),
    ),
    "values of two forms": (
        LOGICAL,
        "  arg1.2[](#1 @0) [0,16]: f32[4]{0}",
        " value: <1 arg1.2 @0> (size=16,offset=0): f32[4]{0}",
        (5, " value: <1 arg1.2 @0>", "an allocation or a value"),
    ),
    "a header without allocations": (
        "BufferAssignment:\nallocation",
        "allocation",
        "Total bytes used: 0 (0B)",
        (2, "Total bytes used: 0 (0B)", "an allocation like 'allocation 4"),
    ),
    "a header without used values": (
        "BufferAssignment:\nallocation 0: size 0, constant:\nTotal bytes used: 0\nUsed values:\n",
        "constant",
        "constant",
        (5, "", "a used value like '<22 arg_tuple.6{1} (phi) @0>'"),
    ),
    "a used value twice": (
        NEW,
        "\n<1 arg1.2 @0>",
        "\n<0 arg0.1 @0>",
        (20, "<0 arg0.1 @0>", "a value of an allocation, each value once"),
    ),
    "a used value that is in no allocation": (
        NEW,
        "\n<1 arg1.2 @0>",
        "\n<9 arg1.2 @0>",
        (20, "<9 arg1.2 @0>", "a value of an allocation, each value once"),
    ),
    "a used value without id": (
        NEW,
        "\n<1 arg1.2 @0>\n positions:",
        "\n<arg1.2>\npositions:",
        (20, "<arg1.2>", "a used value like"),
    ),
    "no header of positions": (
        NEW,
        " positions:\n  arg0.1\n",
        "  arg0.1\n",
        (15, "  arg0.1", "the header of positions like ' positions:'"),
    ),
    "no positions": (
        NEW,
        " positions:\n  arg0.1\n",
        " positions:\n",
        (16, " uses:", "a position like '  tuple.13 {1}'"),
    ),
    "no header of uses": (
        NEW,
        "  arg0.1\n uses:\n",
        "  arg0.1\n",
        (17, "  add.3, operand 0", "the header of uses or a remark in place of uses"),
    ),
    "a use in the positions": (
        NEW,
        "  tuple.4 {0}\n",
        "  tuple.4 {0}\n  tuple.4, operand 0\n",
        (30, "  tuple.4, operand 0", "a position like '  tuple.13 {1}'"),
    ),
    "an invalid first use": (
        NEW,
        "  add.3, operand 0\n",
        "  add.3\n",
        (18, "  add.3", "a use like '  get-tuple-element.18, operand 0 {}'"),
    ),
    "an invalid second use": (
        NEW,
        "  add.3, operand 0\n",
        "  add.3, operand 0\n  (none)\n",
        (19, "  (none)", "a use like"),
    ),
    "uses after the remark that there are none": (
        NEW,
        " uses:\n  add.3, operand 0\n",
        " uses are not initialized yet.\n  add.3, operand 0\n",
        (18, "  add.3, operand 0", "no uses after the remark"),
    ),
    "an empty list of uses printed in two ways": (
        NEW,
        " uses:\n  add.3, operand 0\n",
        " uses:\n  (none)\n",
        (37, " from instruction: %tuple.4", "'(none)' in every empty list of uses or in no list"),
    ),
    "the instruction of another value": (
        NEW,
        "%arg1.2 = f32[4]{0} parameter(1)",
        "%arg1.3 = f32[4]{0} parameter(1)",
        (25, " from instruction: %arg1.3 = f32", "the instruction '%arg1.2 = …'"),
    ),
    "an instruction without text": (
        NEW,
        "%arg1.2 = f32[4]{0} parameter(1)",
        "%arg1.2 = ",
        (25, " from instruction: %arg1.2 = ", "the text of '%arg1.2'"),
    ),
    "a value without instruction after values with one": (
        NEW,
        " from instruction: %arg1.2 = f32[4]{0} parameter(1)\n",
        "",
        (25, "<2 add.3 @0>", "' from instruction: %', as before"),
    ),
    "an instruction after values without one": (
        UNSAID,
        "  add.3, operand 1\n",
        "  add.3, operand 1\n from instruction:%arg1.2 = f32[4]{0} parameter(1)\n",
        (24, " from instruction:%arg1.2", "'<', as before"),
    ),
    "instructions spelled in two ways": (
        NEW,
        " from instruction: %arg1.2",
        " from instruction:%arg1.2",
        (25, " from instruction:%arg1.2", "' from instruction: %', as before"),
    ),
    "a value on a separate line after glued values": (
        GLUED,
        "parameter(1)<2 add.3 @0>",
        "parameter(1)\n<2 add.3 @0>",
        (25, "<2 add.3 @0>", "a line end before every value or before no value"),
    ),
    "a glued line without a value at its end": (
        GLUED,
        "parameter(1)<2 add.3 @0>",
        "parameter(1)",
        (24, " from instruction: %arg1.2", "the text of '%arg1.2'"),
    ),
    "an instruction printed twice, the second time longer": (
        LEAVES,
        "parameter(0)\n<3",
        "parameter(0), sharding={replicated}\n<3",
        (17, " from instruction: %arg = ", "the text of '%arg', the same for all its values"),
    ),
    "an instruction printed twice with different texts": (
        LEAVES,
        "(f32[]) parameter(0)\n<3",
        "(f32[]) parameter(1)\n<3",
        (17, " from instruction: %arg = ", "the text of '%arg', the same for all its values"),
    ),
    "a multi-line value without slot": (
        MULTI_LINE,
        " [0,16]: f32[4]{0}\nallocation 1",
        "allocation 1",
        (7, "allocation 1: ", "a use or the slot of a multi-line value"),
    ),
    "no schedule": (
        NEW,
        "  InstructionSequence:\n",
        "",
        (41, "    0:arg0.1", "the header of the schedule"),
    ),
    "a step twice": (
        NEW,
        "    2:add.3",
        "    1:add.3",
        (44, "    1:add.3", "step 2 of the schedule"),
    ),
    "a schedule shorter than its header says": (
        NEW,
        "    3:tuple.4\n",
        "",
        (45, "  BufferLiveRange:", "4 steps in the schedule, as its header says"),
    ),
    "a schedule longer than its header says": (
        NEW,
        "HloLiveRange (max 4)",
        "HloLiveRange (max 3)",
        (45, "    3:tuple.4", "3 steps in the schedule, as its header says"),
    ),
    "a scheduled instruction without name": (
        NEW,
        "    2:add.3",
        "    2:",
        (44, "    2:", "a scheduled instruction like '    0:copy.2'"),
    ),
    "no ranges": (
        NEW,
        "  BufferLiveRange:\n",
        "",
        (46, "    arg0.1{}:0-4", "a scheduled instruction"),
    ),
    "a range of no value": (
        NEW,
        "    add.3{}:2-4",
        "    add.9{}:2-4",
        (49, "    add.9{}:2-4", "the range of a value in an allocation, one range for each"),
    ),
    "a second range of a value": (
        NEW,
        "    tuple.4{}:3-4",
        "    add.3{}:3-4",
        (50, "    add.3{}:3-4", "the range of a value in an allocation, one range for each"),
    ),
    "a reversed range": (
        NEW,
        "    add.3{}:2-4",
        "    add.3{}:4-2",
        (49, "    add.3{}:4-2", "a first step, then a last one of at most 4"),
    ),
    "a range past the schedule": (
        NEW,
        "    add.3{}:2-4",
        "    add.3{}:2-5",
        (49, "    add.3{}:2-5", "a first step, then a last one of at most 4"),
    ),
    "no peak": (
        NEW,
        "  Live ranges at 3 (peak):\n",
        "",
        (51, "    arg0.1{}: 16 bytes", "a live range like"),
    ),
    "another line instead of a peak": (
        NEW,
        "  Live ranges at 3 (peak):\n",
        "  Dead ranges at 3:\n",
        (51, "  Dead ranges at 3:", "the header of the peak or a live range or a remark"),
    ),
    "a peak at which a value is not live": (
        NEW,
        "  Live ranges at 3 (peak):\n",
        "  Live ranges at 2 (peak):\n",
        (55, "    tuple.4{}: 8 bytes", "a value live at step 2, each listed once"),
    ),
    "a live value that is not in the peak": (
        NEW,
        "    tuple.4{}: 8 bytes (cumulative: 56 bytes)\n",
        "",
        (55, "  Stack trace breakdown", "4 values live at step 3, not 3"),
    ),
    "a stack trace without lines": (
        NEW[: NEW.index("    main.5")],
        "usage: 56",
        "usage: 57",
        (57, "", "a line of the stack trace"),
    ),
    "a stack trace that stops where bytes remain": (
        NEW[: NEW.index("      └──")],
        "usage: 56",
        "usage: 57",
        (59, "", "the rest of the stack trace"),
    ),
    "a stack trace cut in a label": (
        NEW[: NEW.index("      └──")] + "      └── jit(f)/new\n",
        "usage: 56",
        "usage: 57",
        (59, "      └── jit(f)/new", "the rest of the stack trace"),
    ),
    "a line after an instruction whose string has no end": (
        NEW,
        "parameter(0)\n",
        'parameter(0), a="b\nstray\n',
        (20, "stray", "the used value '<1 arg1.2 @0>'"),
    ),
    "a line after the end": (
        NEW + "  Live ranges at 3 (peak):\n",
        "usage: 56",
        "usage: 57",
        (60, "  Live ranges at 3 (peak):", "a value live at the peak or the header of the stack"),
    ),
    "other line ends after some line": (
        NEW,
        "allocation 2: size 16",
        "allocation 2: \r\nsize 16",
        (6, "allocation 2: ", "LF at the end of this line, as on the first line"),
    ),
    "a Windows file with another line end": (
        NEW.replace("\n", "\r\n"),
        "\r\nallocation 2",
        "\nallocation 2",
        (5, " value: <1 arg1.2 @0>", "CR LF at the end of this line, as on the first line"),
    ),
}

BROKEN_RULES = {
    rule: BrokenRule(dump, old, new, *fault) for rule, (dump, old, new, fault) in CASES.items()
}
