"""The schema of the graph as data: labels, relationship types, properties, keys.

Neo4j's constraints, the embedded engine's tables, the columns that the loader checks,
the lint of canned queries and the reference in the docs are all derived from `SCHEMA`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

VERSION: Final = 2
"""Version of the schema, stored in every graph. A graph of a newer one is refused."""


class PropertyType(StrEnum):
    """Types that both engines store alike."""

    STRING = "STRING"
    INTEGER = "INTEGER"
    BOOLEAN = "BOOLEAN"
    STRING_LIST = "STRING LIST"


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or relationship; camelCase, the unit in its name."""

    name: str
    type: PropertyType
    description: str
    indexed: bool = False
    """What people look nodes up by. The embedded engine has no index but that of the key."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """A label. Every node has a unique ``key``, which is its first property."""

    label: str
    description: str
    properties: tuple[Property, ...]
    shared: bool = False
    """Not part of one compilation: merged by key, taken away when nothing uses it."""

    @property
    def is_part(self) -> bool:
        """Whether its nodes are parts of a compilation, and say of which."""
        return any(item.name == "compilation" for item in self.properties)


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """A relationship type, with the labels of its two ends."""

    name: str
    source: str
    target: str
    description: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """All labels and relationship types, in the order in which they are written."""

    nodes: tuple[NodeType, ...]
    relationships: tuple[RelationshipType, ...]

    def __post_init__(self) -> None:
        labels = [node.label for node in self.nodes]
        types = [relationship.name for relationship in self.relationships]
        for kind, names in (("label", labels), ("relationship type", types)):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{kind} {twice[0]} is declared twice")
        for node in self.nodes:
            if not node.properties or node.properties[0].name != "key":
                raise ValueError(f"label {node.label} must declare `key` as its first property")
        for relationship in self.relationships:
            for end in (relationship.source, relationship.target):
                if end not in labels:
                    raise ValueError(
                        f"relationship type {relationship.name} ends at {end}, which is no label"
                    )

    def relationship(self, name: str) -> RelationshipType:
        """Return a relationship type by name; KeyError if there is none."""
        for item in self.relationships:
            if item.name == name:
                return item
        raise KeyError(name)

    def arriving_at(self, label: str) -> tuple[RelationshipType, ...]:
        """Return the relationship types that end at a label."""
        return tuple(item for item in self.relationships if item.target == label)


def _string(name: str, description: str, *, indexed: bool = False) -> Property:
    return Property(name, PropertyType.STRING, description, indexed)


def _integer(name: str, description: str, *, indexed: bool = False) -> Property:
    return Property(name, PropertyType.INTEGER, description, indexed)


def _boolean(name: str, description: str) -> Property:
    return Property(name, PropertyType.BOOLEAN, description)


_KEY_OF_PART = _string("compilation", "key of the compilation that it is a part of", indexed=True)
_DEFINITION = (
    _string("opcode", "opcode of the defining instruction"),
    _string("opName", "op name of the defining instruction, as the framework set it"),
    _string("sourceFile", "source file of the defining instruction, innermost frame"),
    _integer("sourceLine", "line in that file"),
)
_ATTRIBUTION = (
    _string(
        "attribution",
        "how the op that it belongs to was found: own, inside, operand or reader; absent if none",
    ),
    _string("attributedOpName", "op name of the instruction that it belongs to"),
    _string("attributedFile", "source file of that instruction, innermost frame"),
    _integer("attributedLine", "line in that file"),
    _string("userFile", "file of the innermost frame outside of installed packages"),
    _integer("userLine", "line in that file"),
    _string("userFunction", "function there; absent where the dump has no stacks"),
)


def _peaks(of: str = "") -> tuple[Property, ...]:
    return (
        _integer("reservedBytes", f"sum of the allocations{of}, thread-local ones left out"),
        _integer("logicalPeakBytes", f"largest sum of the sizes of values{of} live at one step"),
        _integer("logicalPeakStep", "first step with that sum"),
        _integer("physicalPeakBytes", f"most bytes{of} that hold a live value at one step"),
        _integer("physicalPeakStep", "first step with that many"),
    )


SCHEMA: Final = Schema(
    nodes=(
        NodeType(
            "Run",
            "one folder of dumps",
            (
                _string("key", "its name"),
                _string("name", "path below the folder that was ingested, or as the user says"),
                _string("path", "folder that was ingested"),
                _string("ingestedAt", "ISO 8601, UTC, of the last ingest that changed it"),
                _integer("schemaVersion", "version of the schema that wrote it"),
                Property(
                    "tags", PropertyType.STRING_LIST, "what the user says of it: `name=value`"
                ),
            ),
            shared=True,
        ),
        NodeType(
            "Module",
            "a program across runs",
            (
                _string("key", "its name"),
                _string("name", "module name without trailing `.digits`"),
            ),
            shared=True,
        ),
        NodeType(
            "Compilation",
            "one dump",
            (
                _string("key", "`run/stem`"),
                _string("run", "name of its run", indexed=True),
                _string("name", "short, for captions: the module name, else the file name's stem"),
                _string(
                    "state",
                    "`complete`; what is being loaded or removed has another label, `Loading`",
                ),
                _integer("moduleId", "process-wide number in the file name"),
                _string("moduleName", "as in the file name"),
                _string("platform", "cpu, gpu or rocm; absent for a bare `after_optimizations`"),
                _integer("valueCount", "values in the allocations"),
                _integer("totalBytes", "`Total bytes used` as XLA prints it"),
                _integer("allocationBytes", "sum of all allocations"),
                _integer("scheduleLength", "instructions in the schedule"),
                _integer("partitions", "devices over which the module text splits the program"),
                _integer("printedPeakStep", "step of the peak that XLA prints"),
                _integer("printedPeakBytes", "sum of the list that XLA prints there"),
                _string("result", "instruction whose value the entry computation returns"),
                *_peaks(" of memory space 0"),
                _string("sha256", "digest of the contents of its files"),
                _string("ingestedAt", "ISO 8601, UTC"),
            ),
        ),
        NodeType(
            "MemorySpace",
            "one colour among the allocations of a compilation",
            (
                _string("key", "`compilation#m/color`"),
                _KEY_OF_PART,
                _integer("color", "number of the memory space"),
                _string(
                    "name",
                    "HBM, VMEM, SMEM or host, where the layouts show a TPU; absent elsewhere",
                ),
                _integer("allocationBytes", "sum of its allocations, thread-local ones included"),
                *_peaks(),
            ),
        ),
        NodeType(
            "Allocation",
            "one buffer of the plan",
            (
                _string("key", "`compilation#a/number`"),
                _KEY_OF_PART,
                _integer("number", "place in the dump"),
                _integer("sizeBytes", "bytes reserved"),
                _string(
                    "role",
                    "parameter, output, temp, constant, threadLocal or liveOut",
                ),
                _integer("memorySpace", "its colour"),
                _integer("page", "page, where the dump prints one"),
                _integer("parameterNumber", "entry parameter that it stores"),
                _string("shapeIndex", "tuple index within that parameter, in braces"),
                _string("shape", "shape of the parameter or of the output, without layout"),
                _string(
                    "donation",
                    "whether the caller gives the parameter up: `paired` with an output, or"
                    " `unpaired`; absent if not, or without module text",
                ),
                _string("donatedTo", "tuple index of the output that it is paired with, in braces"),
                _boolean("isOutput", "holds the top-level result of the entry computation"),
                _boolean("maybeLiveOut", "may hold a part of the result, or what aliases it"),
                _integer("physicalPeakBytes", "most bytes that hold a live value at one step"),
                _integer("physicalPeakStep", "first step with that many"),
                _integer(
                    "largestHoleBytes", "longest run of bytes without a live value at that step"
                ),
            ),
        ),
        NodeType(
            "Value",
            "one HLO value in a slot of an allocation",
            (
                _string("key", "`compilation#v/valueId`"),
                _KEY_OF_PART,
                _integer("valueId", "number that XLA gave it"),
                _string("name", "name of the defining instruction"),
                _string("shapeIndex", "tuple index in braces, where that is tuple-shaped"),
                _string("label", "name and tuple index", indexed=True),
                _boolean("isPhi", "made where control flow merges"),
                _string("shape", "without layout"),
                _string("layout", "as printed in braces; absent where none is printed"),
                _string("dtype", "element type; `tuple`, `token` and `opaque` too"),
                _integer("sizeBytes", "assigned size, padding included"),
                _integer("denseBytes", "elements × bits of the type; absent for tuples and tokens"),
                _integer("memorySpace", "its colour"),
                _integer("allocation", "number of the allocation that holds it"),
                _integer("offsetBytes", "start of its slot within the allocation"),
                _integer("liveFrom", "first step in which it is needed"),
                _integer("liveUntil", "last step in which it is needed, inclusive"),
                _integer("lastUse", "largest step among the instructions that use it"),
                _integer(
                    "aliasSet", "smallest valueId among the values joined by in-place updates"
                ),
                _integer("aliasPosition", "place in that set by (liveFrom, liveUntil, valueId)"),
                _integer(
                    "bufferSet",
                    "smallest valueId among the values that must share an address, by the rules"
                    " of XLA; absent without module text",
                ),
                _integer(
                    "neededUntil",
                    "of an entry parameter: last step in which it is needed, donated or not",
                ),
                *_DEFINITION,
                *_ATTRIBUTION,
            ),
        ),
        NodeType(
            "Instruction",
            "an HLO instruction that the dump names",
            (
                _string("key", "`compilation#i/name`"),
                _KEY_OF_PART,
                _string("name", "unique in its compilation", indexed=True),
                _string("opcode", "HLO opcode", indexed=True),
                _string("shape", "with layout, as printed"),
                _string("opName", "op name, as the framework set it", indexed=True),
                _string("sourceFile", "source file, innermost frame"),
                _integer("sourceLine", "line in that file"),
                _string("computation", "computation that it belongs to"),
                _string("calls", "computation that a fusion, a call or the like runs"),
                _string("target", "target of a custom call"),
                _string("rootOpcode", "opcode of the root of a fusion"),
                _integer("step", "place in the schedule"),
                _integer(
                    "postOrder",
                    "place in XLA's post-order, which decides between buffers of one size",
                ),
                _integer(
                    "logicalBytes", "live in memory space 0 while it runs, in-place pairs twice"
                ),
                _integer("physicalBytes", "bytes of memory space 0 that hold a live value then"),
                _string("text", "`name = shape opcode(…)…` as printed"),
                _string("sharding", "of a parameter: how it is split over devices, in braces"),
            ),
        ),
        NodeType(
            "Op",
            "an op name, shared by all compilations",
            (_string("key", "the op name"), _string("name", "the op name", indexed=True)),
            shared=True,
        ),
        NodeType(
            "Scope",
            "a leading part of an op name, split at `/` outside brackets",
            (
                _string("key", "the leading part"),
                _string("name", "the leading part", indexed=True),
                _integer("depth", "parts in it, from 1"),
            ),
            shared=True,
        ),
        NodeType(
            "SourceLine",
            "a line of source code",
            (
                _string("key", "`file:line`"),
                _string("file", "as the framework recorded it", indexed=True),
                _integer("line", "from 1", indexed=True),
            ),
            shared=True,
        ),
        NodeType(
            "Frame",
            "a call path: a place in the source together with its callers",
            (
                _string("key", "own place and a digest of the caller's key"),
                _string("function", "qualified name of the function"),
                _string("file", "source file"),
                _integer("line", "line in that file"),
                _integer("sourceColumn", "column in that line"),
                _integer("depth", "callers above it and itself, from 1"),
                _string(
                    "treeOrder",
                    "sorts a tree of calls: callers before what they call, then by line",
                ),
            ),
            shared=True,
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
                _integer("offsetBytes", "start within the allocation"),
                _integer("sizeBytes", "assigned size"),
            ),
        ),
        RelationshipType(
            "USED_BY",
            "Value",
            "Instruction",
            "the instruction reads the value",
            (
                _integer("operand", "operand number"),
                _string("operandIndex", "index within a tuple operand, in braces"),
            ),
        ),
        RelationshipType("DEFINES", "Instruction", "Value", "the instruction makes the value"),
        RelationshipType(
            "APPEARS_AT",
            "Value",
            "Instruction",
            "a position: a name by which the value goes",
            (_string("shapeIndex", "tuple index there, in braces"),),
        ),
        RelationshipType(
            "LIVE_FROM",
            "Value",
            "Instruction",
            "the first step of its live range",
            (_integer("step", "place of the instruction in the schedule"),),
        ),
        RelationshipType(
            "LIVE_UNTIL",
            "Value",
            "Instruction",
            "the last step of its live range; none where it ends past the last instruction",
            (_integer("step", "place of the instruction in the schedule"),),
        ),
        RelationshipType(
            "SCHEDULES",
            "Compilation",
            "Instruction",
            "the schedule",
            (_integer("step", "place in the schedule, from 0"),),
        ),
        RelationshipType("NEXT", "Instruction", "Instruction", "the order of the schedule"),
        RelationshipType(
            "LIVE_AT_PEAK",
            "Value",
            "MemorySpace",
            "live at the physical peak of its memory space",
            (_integer("physicalBytes", "its own share; the shares add up to physicalPeakBytes"),),
        ),
        RelationshipType(
            "IN_PRINTED_PEAK",
            "Value",
            "Compilation",
            "listed by XLA at the peak that it prints",
            (
                _integer("printedBytes", "as listed"),
                _integer("rank", "place in the list, from 0"),
                _boolean("ambiguous", "the list names a tuple, not its element"),
            ),
        ),
        RelationshipType(
            "UPDATES_IN_PLACE",
            "Value",
            "Value",
            "the later value overwrites the earlier one where both are live",
            (
                _integer("sharedBytes", "bytes that it takes over"),
                _integer("step", "first step of the later one"),
            ),
        ),
        RelationshipType(
            "REUSES",
            "Value",
            "Value",
            "the later value takes bytes that the earlier one left",
            (
                _integer("sharedBytes", "bytes that it takes over"),
                _integer(
                    "gapSteps", "from the end of the earlier one to the start of the later one"
                ),
            ),
        ),
        RelationshipType(
            "MAY_OVERWRITE",
            "Value",
            "Value",
            "XLA may give the one the bytes of the other, which it reads and which ends there",
            (
                _integer("operand", "operand number of the other one"),
                _boolean("isOperand", "its own instruction is the operand, no bitcast of it"),
            ),
        ),
        RelationshipType("FROM_OP", "Instruction", "Op", "what the user wrote"),
        RelationshipType("FROM_LINE", "Instruction", "SourceLine", "where the user wrote it"),
        RelationshipType("IN_FRAME", "Instruction", "Frame", "the call path that led there"),
        RelationshipType(
            "ATTRIBUTED_TO", "Value", "Op", "the op that it belongs to, by whatever rule"
        ),
        RelationshipType(
            "ATTRIBUTED_FRAME", "Value", "Frame", "the call path that led to what it belongs to"
        ),
        RelationshipType("WITHIN", "Op", "Scope", "each leading part of the op name"),
        RelationshipType("CALLED_FROM", "Frame", "Frame", "the caller; at most one"),
    ),
)

PARTS: Final = tuple(node for node in SCHEMA.nodes if node.is_part)
SHARED: Final = tuple(node for node in SCHEMA.nodes if node.shared)
_SHARED_LABELS: Final = frozenset(node.label for node in SHARED)

UNCHANGING: Final = tuple(node.label for node in SHARED if node.label != "Run")
"""Labels whose nodes are the same wherever they are made; runs differ in when."""

BETWEEN_SHARED: Final = tuple(
    item for item in SCHEMA.relationships if {item.source, item.target} <= _SHARED_LABELS
)
"""What is written together with the shared node that it leaves."""
