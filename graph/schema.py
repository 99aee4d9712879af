"""The schema of the graph as data: labels, relationship types, properties, keys.

Neo4j's constraints, the embedded engine's tables, the columns that the loader checks,
the lint of canned queries and the reference in the docs are all derived from `SCHEMA`.
"""

from typing import Final

from xlagraph.graph.schema_types import (
    NodeType,
    Property,
    RelationshipType,
    Schema,
    boolean,
    captioned_bytes,
    integer,
    string,
    strings,
)

VERSION: Final = 7
"""Version of the schema, stored in every graph. A graph with a newer version is refused."""


_KEY_OF_PART = string("compilation", "key of the compilation that it is a part of", is_indexed=True)
_DEFINITION = (
    string("opcode", "opcode of the defining instruction"),
    string("opName", "op name of the defining instruction, as the framework set it"),
    string("sourceFile", "source file of the defining instruction, innermost frame"),
    integer("sourceLine", "line in that file"),
)
_ATTRIBUTION = (
    string(
        "attribution",
        "how the op that it belongs to was found: stack, own, inside, operand or reader; absent if"
        " none",
    ),
    string("attributedOpName", "op name of the instruction that it belongs to"),
    string("attributedFile", "source file of that instruction, innermost frame"),
    integer("attributedLine", "line in that file"),
    string("userFile", "file of the innermost frame outside of installed packages"),
    integer("userLine", "line in that file"),
    string("userFunction", "function there; absent where the dump has no stacks"),
)


def _peaks(of: str = "") -> tuple[Property, ...]:
    return (
        *captioned_bytes(
            "reservedBytes", f"sum of the allocations{of}, thread-local ones left out"
        ),
        integer("logicalPeakBytes", f"largest sum of the sizes of values{of} live at one step"),
        integer("logicalPeakStep", "first step with that sum"),
        *captioned_bytes("physicalPeakBytes", f"most bytes{of} that hold a live value at one step"),
        integer("physicalPeakStep", "first step with that many"),
    )


SCHEMA: Final = Schema(
    nodes=(
        NodeType(
            "Run",
            "one folder of dumps",
            (
                string("key", "its name"),
                string("name", "path below the folder that was ingested, or as the user says"),
                string("path", "folder that was ingested; the first of those that joined it"),
                string("ingestedAt", "ISO 8601, UTC, of the last ingest that changed it"),
                integer("schemaVersion", "version of the schema that wrote it"),
                strings("tags", "what the user says of it: `name=value`"),
            ),
            is_shared=True,
        ),
        NodeType(
            "Module",
            "a program across runs",
            (
                string("key", "its name"),
                string("name", "module name without trailing `.digits`"),
            ),
            is_shared=True,
        ),
        NodeType(
            "Compilation",
            "one dump",
            (
                string("key", "`run/stem`"),
                string("run", "name of its run", is_indexed=True),
                string("name", "short, for captions: the module name, else the file name's stem"),
                string(
                    "state",
                    "`complete`; what is being loaded or removed has another label, `Loading`",
                ),
                integer("moduleId", "process-wide number in the file name"),
                string("moduleName", "as in the file name"),
                string("platform", "cpu, gpu, rocm or tpu; absent where nothing shows it"),
                integer("valueCount", "values in the allocations"),
                integer("totalBytes", "`Total bytes used` as XLA prints it"),
                integer("allocationBytes", "sum of all allocations"),
                integer("scheduleLength", "instructions in the schedule"),
                integer("partitions", "devices over which the module text splits the program"),
                integer("printedPeakStep", "step of the peak that XLA prints"),
                integer("printedPeakBytes", "sum of the list that XLA prints there"),
                string("result", "instruction whose value the entry computation returns"),
                *_peaks(" of memory space 0"),
                string("sha256", "digest of the contents of its files"),
                string("carrier", "what it was read from: text, proto, profile or process"),
                strings(
                    "derived",
                    "facts that the carrier does not state, but that follow by XLA's rules",
                ),
                boolean(
                    "heapTraceAgrees",
                    "whether XLA's heap trace agrees with derived live ranges; absent without",
                ),
                string("path", "folder of the run that it came from"),
                string("ingestedAt", "ISO 8601, UTC"),
                string(
                    "detail",
                    "how much of it is stored: `all`, or `peak`, its totals, peaks and what is"
                    " live there",
                    is_indexed=True,
                ),
            ),
        ),
        NodeType(
            "MemorySpace",
            "one colour among the allocations of a compilation",
            (
                string("key", "`compilation#m/color`"),
                _KEY_OF_PART,
                integer("color", "number of the memory space"),
                string(
                    "name",
                    "HBM, VMEM or SMEM, where the layouts show a TPU; host, anywhere; else absent",
                ),
                integer("allocationBytes", "sum of its allocations, thread-local ones included"),
                *_peaks(),
            ),
        ),
        NodeType(
            "Allocation",
            "one buffer of the plan",
            (
                string("key", "`compilation#a/number`"),
                _KEY_OF_PART,
                integer("number", "position in the dump"),
                *captioned_bytes("sizeBytes", "bytes reserved"),
                string("role", "parameter, output, temp, constant, threadLocal or liveOut"),
                integer("memorySpace", "its colour"),
                integer("page", "page, where the dump prints one"),
                integer("parameterNumber", "entry parameter that it stores"),
                string("shapeIndex", "tuple index within that parameter, in braces"),
                string("shape", "shape of the parameter or of the output, without layout"),
                string(
                    "donation",
                    "whether the caller gives the parameter up: `paired` with an output, or"
                    " `unpaired`; absent if not, or without module text",
                ),
                string("donatedTo", "tuple index of the output that it is paired with, in braces"),
                boolean("isOutput", "holds the top-level result of the entry computation"),
                boolean("maybeLiveOut", "may hold a part of the result, or what aliases it"),
                integer("physicalPeakBytes", "most bytes that hold a live value at one step"),
                integer("physicalPeakStep", "first step with that many"),
                integer(
                    "largestHoleBytes", "longest run of bytes without a live value at that step"
                ),
            ),
        ),
        NodeType(
            "Value",
            "one HLO value in a slot of an allocation",
            (
                string("key", "`compilation#v/valueId`"),
                _KEY_OF_PART,
                integer("valueId", "number that XLA gave it"),
                string("name", "name of the defining instruction"),
                string("shapeIndex", "tuple index in braces, where that is tuple-shaped"),
                string("label", "name and tuple index", is_indexed=True),
                boolean("isPhi", "made where control flow merges"),
                string("shape", "without layout"),
                string("layout", "as printed in braces; absent where none is printed"),
                string("dtype", "element type; `tuple`, `token` and `opaque` too"),
                *captioned_bytes("sizeBytes", "assigned size, padding included"),
                integer("denseBytes", "elements × bits of the type; absent for tuples and tokens"),
                integer("memorySpace", "its colour"),
                integer("allocation", "number of the allocation that holds it"),
                integer("offsetBytes", "start of its slot within the allocation"),
                integer("liveFrom", "first step in which it is needed"),
                integer("liveUntil", "last step in which it is needed, inclusive"),
                integer("lastUse", "largest step among the instructions that use it"),
                string(
                    "rangeEnd",
                    "why its live range ends: `overwritten` in place; at the end of the schedule"
                    " `output`, `parameter`, `constant` or `end`; `unread`, `lastUse`, `kept` after"
                    " it, `handedOn` before it",
                ),
                integer("aliasSet", "smallest valueId among the values joined by in-place updates"),
                integer("aliasPosition", "position in that set by (liveFrom, liveUntil, valueId)"),
                integer(
                    "bufferSet",
                    "smallest valueId among the values that must share an address, by the rules"
                    " of XLA; absent without module text",
                ),
                integer(
                    "neededUntil",
                    "of an entry parameter: last step in which it is needed, donated or not",
                ),
                string(
                    "stackLoop",
                    "of a value in the bytes of a stack that the turns of a loop fill part by part:"
                    " the name of that loop",
                ),
                integer("stackTurns", "parts that the stack holds, one for each turn"),
                integer("turnBytes", "bytes of one part: its size over the turns"),
                string(
                    "stackElement",
                    "instruction that makes the part of a turn; absent where the write makes it",
                ),
                *_DEFINITION,
                *_ATTRIBUTION,
            ),
        ),
        NodeType(
            "Instruction",
            "an HLO instruction that the dump names",
            (
                string("key", "`compilation#i/name`"),
                _KEY_OF_PART,
                string("name", "unique in its compilation", is_indexed=True),
                string("opcode", "HLO opcode", is_indexed=True),
                string("shape", "with layout, as printed"),
                string("opName", "op name, as the framework set it", is_indexed=True),
                string("sourceFile", "source file, innermost frame"),
                integer("sourceLine", "line in that file"),
                string("computation", "computation that it belongs to"),
                string("calls", "computation that a fusion, a call or the like runs"),
                string("loop", "innermost loop in which it runs, by the name of the `while`"),
                integer("turns", "of a loop: how often its body runs, where XLA knows it"),
                string("target", "target of a custom call"),
                string("rootOpcode", "opcode of the root of a fusion"),
                integer("step", "position in the schedule"),
                integer(
                    "postOrder",
                    "position in XLA's post-order, which decides between buffers of one size",
                ),
                integer(
                    "logicalBytes", "live in memory space 0 while it runs, in-place pairs twice"
                ),
                integer("physicalBytes", "bytes of memory space 0 that hold a live value then"),
                string("text", "`name = shape opcode(…)…` as printed"),
                string("sharding", "of a parameter: how it is split over devices, in braces"),
                strings("operands", "names of its operands in order; absent if there are none"),
                strings(
                    "controlPredecessors", "instructions that must run before it, not as operands"
                ),
                strings(
                    "callees",
                    "computations that it runs as part of the schedule: of a loop its condition and"
                    " its body",
                ),
                boolean(
                    "isRoot",
                    "whether it returns the result of its computation; absent without module text",
                ),
                integer("uniqueId", "number that XLA gave it; absent in dumps of text"),
            ),
        ),
        NodeType(
            "Op",
            "an op name, shared by all compilations",
            (string("key", "the op name"), string("name", "the op name", is_indexed=True)),
            is_shared=True,
        ),
        NodeType(
            "Scope",
            "a leading part of an op name, split at `/` outside brackets",
            (
                string("key", "the leading part"),
                string("name", "the leading part", is_indexed=True),
                integer("depth", "parts in it, from 1"),
            ),
            is_shared=True,
        ),
        NodeType(
            "SourceLine",
            "a line of source code",
            (
                string("key", "`file:line`"),
                string("file", "as the framework recorded it", is_indexed=True),
                integer("line", "from 1", is_indexed=True),
            ),
            is_shared=True,
        ),
        NodeType(
            "Frame",
            "a call path: a place in the source together with its callers",
            (
                string("key", "own place and a digest of the caller's key"),
                string("function", "qualified name of the function"),
                string("file", "source file"),
                integer("line", "line in that file"),
                integer("sourceColumn", "column in that line"),
                integer("depth", "callers above it and itself, from 1"),
                string(
                    "treeOrder",
                    "sorts a tree of calls: callers before what they call, then by line",
                ),
            ),
            is_shared=True,
        ),
    ),
    relationships=(
        RelationshipType("COMPILED", "Run", "Compilation", "the run holds the dump"),
        RelationshipType("OF_MODULE", "Compilation", "Module", "the program that was compiled"),
        RelationshipType(
            "USES_SPACE", "Compilation", "MemorySpace", "a colour that it allocates in"
        ),
        RelationshipType("ALLOCATES", "Compilation", "Allocation", "a buffer of its plan"),
        RelationshipType(
            "HOLDS",
            "Allocation",
            "Value",
            "the slot of a value",
            (
                integer("offsetBytes", "start within the allocation"),
                integer("sizeBytes", "assigned size"),
            ),
        ),
        RelationshipType(
            "USED_BY",
            "Value",
            "Instruction",
            "the instruction reads the value",
            (
                integer("operand", "operand number"),
                string("operandIndex", "index within a tuple operand, in braces"),
            ),
        ),
        RelationshipType("DEFINES", "Instruction", "Value", "the instruction makes the value"),
        RelationshipType(
            "APPEARS_AT",
            "Value",
            "Instruction",
            "a position: a name by which the value goes",
            (string("shapeIndex", "tuple index there, in braces"),),
        ),
        RelationshipType(
            "LIVE_FROM",
            "Value",
            "Instruction",
            "the first step of its live range",
            (integer("step", "position of the instruction in the schedule"),),
        ),
        RelationshipType(
            "LIVE_UNTIL",
            "Value",
            "Instruction",
            "the last step of its live range; none where it ends past the last instruction",
            (integer("step", "position of the instruction in the schedule"),),
        ),
        RelationshipType(
            "SCHEDULES",
            "Compilation",
            "Instruction",
            "the schedule",
            (integer("step", "position in the schedule, from 0"),),
        ),
        RelationshipType("NEXT", "Instruction", "Instruction", "the order of the schedule"),
        RelationshipType(
            "LIVE_AT_PEAK",
            "Value",
            "MemorySpace",
            "live at the physical peak of its memory space",
            captioned_bytes("physicalBytes", "its own share; they add up to physicalPeakBytes"),
        ),
        RelationshipType(
            "IN_PRINTED_PEAK",
            "Value",
            "Compilation",
            "listed by XLA at the peak that it prints",
            (
                *captioned_bytes("printedBytes", "as listed"),
                integer("rank", "position in the list, from 0"),
                boolean("ambiguous", "the list names a tuple, not its element"),
            ),
        ),
        RelationshipType(
            "UPDATES_IN_PLACE",
            "Value",
            "Value",
            "the later value overwrites the earlier one where both are live",
            (
                *captioned_bytes("sharedBytes", "bytes that it takes over"),
                integer("step", "first step of the later one"),
            ),
        ),
        RelationshipType(
            "REUSES",
            "Value",
            "Value",
            "the later value takes bytes that the earlier one left",
            (
                *captioned_bytes("sharedBytes", "bytes that it takes over"),
                integer(
                    "gapSteps", "from the end of the earlier one to the start of the later one"
                ),
            ),
        ),
        RelationshipType(
            "MAY_OVERWRITE",
            "Value",
            "Value",
            "XLA may give the one the bytes of the other, which it reads, if it ends there",
            (
                integer("operand", "operand number of the other one"),
                boolean("isOperand", "its own instruction is the operand, no bitcast of it"),
            ),
        ),
        RelationshipType("FROM_OP", "Instruction", "Op", "what the user wrote"),
        RelationshipType("FROM_LINE", "Instruction", "SourceLine", "where the user wrote it"),
        RelationshipType("IN_FRAME", "Instruction", "Frame", "the call path that led there"),
        RelationshipType(
            "ATTRIBUTED_TO", "Value", "Op", "the op that it belongs to, by whatever rule"
        ),
        RelationshipType(
            "ATTRIBUTED_LINE", "Value", "SourceLine", "the source line of what it belongs to"
        ),
        RelationshipType(
            "ATTRIBUTED_FRAME", "Value", "Frame", "the call path that led to what it belongs to"
        ),
        RelationshipType("WITHIN", "Op", "Scope", "each leading part of the op name"),
        RelationshipType("CALLED_FROM", "Frame", "Frame", "the caller; at most one"),
    ),
)
