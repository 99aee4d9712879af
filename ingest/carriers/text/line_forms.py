r"""The forms of the lines in a dump, in the order of the file.

``NL`` ends a line; empty lines are allowed everywhere::

    dump        = part , { part } ;          (* one file; three since jaxlib 0.10 *)
    part        = section , { section } ;    (* each once in a dump, in this order in a file *)
    section     = allocations | totals | live ranges ;
    allocations = BUFFER_ASSIGNMENT , allocation , { allocation } ;
    allocation  = ALLOCATION , { VALUE | LOGICAL_BUFFER | multi-line value } ;
    multi-line value = VALUE_OPENING , POSITION , { POSITION } , uses , VALUE_CLOSING ;
    totals      = TOTAL , USED_VALUES , used value , { used value } ;
    used value  = VALUE_HEADER , POSITIONS , POSITION , { POSITION } , uses ,
                  [ FROM_INSTRUCTION ] ;     (* jaxlib 0.4.24 to 0.4.35 write no NL after it *)
    uses        = USES , ( { USE } | NO_USES ) | USES_NOT_INITIALIZED ;
    live ranges = LIVE_RANGES_NOT_AVAILABLE
                | LIVE_RANGES , SCHEDULE , SCHEDULED , { SCHEDULED } ,
                  RANGES , RANGE , { RANGE } , ( NO_PEAK | peak ) ;
    peak        = PEAK , PEAK_ENTRY , { PEAK_ENTRY } , [ STACK_TRACE , { STACK_LINE } ] ;

A name is any run of characters with which the rest of its line still matches. XLA writes
``[A-Za-z0-9_.-]+``, for which the first of two alternatives is the fast path. Numbers have no
leading zeros, like XLA's, and fit into 64 bits with a sign.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final


@dataclass(frozen=True)
class LineForm:
    """One form of a line: a description, an example and a pattern.

    The pattern is compiled on first use, because a dump has few of the forms: to compile all of
    them took each process 30 ms.
    """

    description: str
    example: str
    pattern: str
    """Pattern of the whole line, without its line end."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Pattern of the whole line with its line end."""
        return re.compile(f"{self.pattern}\n")

    @cached_property
    def multiline_regex(self) -> re.Pattern[str]:
        """Pattern for `findall` over many lines."""
        return re.compile(f"^{self.pattern}\n", re.MULTILINE)


LARGEST_NUMBER: Final = 2**63 - 1
WIDE_NUMBER: Final = re.compile("[0-9]{19,}")
"""Pattern of a number that can be larger than `LARGEST_NUMBER`."""
_LARGEST: Final = str(LARGEST_NUMBER)
# The pattern contains the bound, so that no reader of a number has to check it. This is free:
# parsing a dump of 5,000 values takes 67 ms of processor time with and without the bound.
_NUMBER: Final = (
    "(0|[1-9][0-9]{0,17}(?![0-9])|[1-8][0-9]{18}|"
    + "|".join(
        f"{_LARGEST[:index]}[0-{int(digit) - 1}][0-9]{{{18 - index}}}"
        for index, digit in enumerate(_LARGEST)
        if index and digit != "0"
    )
    + f"|{_LARGEST})"
)
_SIGNED: Final = r"(0|-?[1-9][0-9]{0,17})"
_INDEX: Final = r"(\{(?:[0-9]+(?:,[0-9]+)*)?\})"
_VALUE: Final = rf"<{_NUMBER} ([^ {{>\n]++|.+?){_INDEX}?( \(phi\))?(?: @{_SIGNED})?>"

BUFFER_ASSIGNMENT: Final = LineForm(
    "the first line of a dump",
    "BufferAssignment:",
    r"BufferAssignment:",
)
ALLOCATION: Final = LineForm(
    "an allocation",
    "allocation 4: size 32, parameter 0, shape |f32[8]| at ShapeIndex {2}, maybe-live-out:",
    rf"allocation {_NUMBER}: (?:(0x[0-9a-f]+), )?size {_NUMBER}"
    r"(?:, color (-?[1-9][0-9]{0,17}))?"
    rf"(?:, page {_NUMBER})?"
    rf"(?:, parameter {_NUMBER}(?:, shape \|([^|\n]*)\|)?(?: at ShapeIndex {_INDEX})?)?"
    r"(?:, output shape is \|([^|\n]*)\|)?"
    r"(, constant)?(, thread-local)?(, maybe-live-out)?(, preallocated-temp)?:",
)
VALUE: Final = LineForm(
    "a value",
    " value: <56 while.1{1} (phi) @0> (size=16384,offset=0): f32[64,64]{1,0}",
    rf" value: ({_VALUE}) \(size={_NUMBER},offset={_NUMBER}\): (.+)",
)
LOGICAL_BUFFER: Final = LineForm(
    "a logical buffer",
    "  fusion[1](#8 @0) [0,128]: s32[32]{0}",
    rf"  ([^\[\n]++|.+?)\[((?:[0-9]+(?:,[0-9]+)*)?)\]\(#{_NUMBER}(?: @{_SIGNED})?\)"
    rf" \[{_NUMBER},{_NUMBER}\]: (.+)",
)
VALUE_OPENING: Final = LineForm(
    "a multi-line value",
    "  21 PHI conditional.31{0} @0, positions:",
    rf"  {_NUMBER}( PHI)? ([^ {{,\n]++|.+?){_INDEX}?(?: @{_SIGNED})?, positions:",
)
VALUE_CLOSING: Final = LineForm(
    "the slot of a multi-line value",
    " [0,16384]: f32[64,64]{1,0}",
    rf" \[{_NUMBER},{_NUMBER}\]: (.+)",
)
TOTAL: Final = LineForm(
    "the total",
    "Total bytes used: 49436 (48.3KiB)",
    rf"Total bytes used: {_NUMBER}(?: \(([0-9.]+(?:B|KiB|MiB|GiB|TiB))\))?",
)
USED_VALUES: Final = LineForm(
    "the header of the used values",
    "Used values:",
    r"Used values:",
)
VALUE_HEADER: Final = LineForm(
    "a used value",
    "<22 arg_tuple.6{1} (phi) @0>",
    _VALUE,
)
POSITIONS: Final = LineForm(
    "the header of positions",
    " positions:",
    r" positions:",
)
POSITION: Final = LineForm(
    "a position",
    "  tuple.13 {1}",
    rf"  ([^ \n]++|(?!.*, operand [0-9]).+?)(?: {_INDEX})?",
)
USES: Final = LineForm(
    "the header of uses",
    " uses:",
    r" uses:",
)
USES_NOT_INITIALIZED: Final = LineForm(
    "a remark in place of uses",
    " uses are not initialized yet.",
    r" uses are not initialized yet\.",
)
USE: Final = LineForm(
    "a use",
    "  get-tuple-element.18, operand 0 {}",
    rf"  ([^ ,\n]++|.+?), operand {_NUMBER}(?: {_INDEX})?",
)
NO_USES: Final = LineForm(
    "an empty list of uses",
    "  (none)",
    r"  \(none\)",
)
FROM_INSTRUCTION: Final = LineForm(
    "the defining instruction",
    " from instruction: %add.4 = f32[8]{0} add(%x, %y)",
    r" from instruction: ?%(.+?) = (.+)",
)
LIVE_RANGES: Final = LineForm(
    "the header of the live ranges",
    "HloLiveRange (max 36):",
    rf"HloLiveRange \(max {_NUMBER}\):",
)
LIVE_RANGES_NOT_AVAILABLE: Final = LineForm(
    "a remark in place of live ranges",
    "HloLiveRange not available",
    r"HloLiveRange not available.*",
)
SCHEDULE: Final = LineForm(
    "the header of the schedule",
    "  InstructionSequence:",
    r"  InstructionSequence:",
)
SCHEDULED: Final = LineForm(
    "a scheduled instruction",
    "    0:copy.2",
    rf"    {_NUMBER}:(.+)",
)
RANGES: Final = LineForm(
    "the header of the ranges",
    "  BufferLiveRange:",
    r"  BufferLiveRange:",
)
RANGE: Final = LineForm(
    "a live range",
    "    arg_tuple.6{1}:17-21",
    rf"    ([^{{\n]++|.+){_INDEX}:{_NUMBER}-{_NUMBER}",
)
PEAK: Final = LineForm(
    "the header of the peak",
    "  Live ranges at 27 (peak):",
    rf"  Live ranges at {_SIGNED} \(peak\):",
)
NO_PEAK: Final = LineForm(
    "a remark in place of the peak",
    "  Peak memory could not be determined",
    r"  Peak memory could not be determined.*",
)
PEAK_ENTRY: Final = LineForm(
    "a value live at the peak",
    "    copy.2{}: 4 bytes (cumulative: 49164 bytes)",
    rf"    ([^{{:\n]++|.+?){_INDEX}?: {_NUMBER} bytes(?: \(cumulative: {_NUMBER} bytes\))?",
)
STACK_TRACE: Final = LineForm(
    "the header of the stack trace",
    "  Stack trace breakdown for peak usage: 49 164 bytes",
    r"  Stack trace breakdown for peak usage: [0-9 ]+ bytes",
)
# Users write the labels, and older releases draw the tree differently: keep the whole line.
STACK_LINE: Final = LineForm(
    "a line of the stack trace",
    "      └── x (33.3%, total: 16 384 bytes, current: 16 384 bytes, remaining: 0 bytes)",
    r"    .+",
)

# Blocks of lines, each matched in one call. Most lists have one line, whose groups are part of
# the block; further lines are parsed later.
INDENTED: Final = re.compile(r"(?:    .+\n)*+")
# Labels and strings can contain line ends: XLA does not escape them.
STACK_LINES: Final = re.compile(r"(?:    .+\n(?:(?<!bytes\)\n).*\n)*+(?<=bytes\)\n))*+")
INSTRUCTION: Final = re.compile(r'(?:[^"\n]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_LISTS: Final = (
    rf"{POSITION.pattern}\n(?P<positions>(?:  .+\n)*+)"
    rf"(?:{USES.pattern}|(?P<remark>{USES_NOT_INITIALIZED.pattern}))\n"
    rf"(?:{USE.pattern}\n)?(?P<uses>(?:  .+\n)*+)"
)
USED_VALUE_BLOCK: Final = re.compile(
    rf"(<.+)\n{POSITIONS.pattern}\n{_LISTS}( from instruction: ?%)?"
)
MULTI_LINE_VALUE_BLOCK: Final = re.compile(
    rf"{VALUE_OPENING.pattern}\n{_LISTS}{VALUE_CLOSING.pattern}\n"
)
