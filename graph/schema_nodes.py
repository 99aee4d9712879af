"""The labels of the graph and the properties of their nodes."""

from typing import Final

from xlagraph.graph.schema_types import (
    Booleans,
    Integers,
    Names,
    NodeRows,
    Numbers,
    StringLists,
    Strings,
    described,
)


class RunNodes(NodeRows, is_shared=True):
    """One folder of dumps."""

    key: Names = described("its name")
    name: Strings = described("path below the folder that was ingested, or as the user says")
    path: Strings = described("folder that was ingested; the first of those that joined it")
    ingested_at: Strings = described("ISO 8601, UTC, of the last ingest that changed it")
    schema_version: Integers = described("version of the schema that wrote it")
    tags: StringLists = described("the user's tags: `name=value`")
    snapshots: StringLists = described(
        "what was resident on its devices: `name=` and a JSON list of arrays and executables"
    )


class ModuleNodes(NodeRows, is_shared=True):
    """A program across runs."""

    key: Names = described("its name")
    name: Strings = described("module name without trailing `.digits`")


class CompilationNodes(NodeRows):
    """One dump."""

    key: Names = described("`run/stem`")
    run: Strings = described("name of its run", is_indexed=True)
    name: Strings = described("short, for captions: the module name, else the file name's stem")
    state: Strings = described(
        "`complete`; what is being loaded or removed has another label, `Loading`"
    )
    module_id: Integers = described("process-wide number in the file name")
    module_name: Strings = described("as in the file name")
    platform: Strings = described("cpu, gpu, rocm or tpu; absent where nothing shows it")
    value_count: Integers = described("values in the allocations")
    total_bytes: Integers = described("`Total bytes used` as XLA prints it")
    allocation_bytes: Integers = described("sum of all allocations")
    schedule_length: Integers = described("instructions in the schedule")
    partitions: Integers = described("devices over which the module text splits the program")
    printed_peak_step: Integers = described("step of the peak that XLA prints")
    printed_peak_bytes: Integers = described("sum of the sizes that XLA lists for that step")
    prints_stack_trace: Booleans = described(
        "whether XLA prints stack traces of that step, as it does since jaxlib 0.7.1; text only"
    )
    result: Strings = described("instruction whose value the entry computation returns")
    reserved_bytes: Integers = described(
        "sum of memory space 0's allocations, without thread-local ones", is_captioned=True
    )
    logical_peak_bytes: Integers = described(
        "largest sum of the sizes of values that are live at one step, in memory space 0"
    )
    logical_peak_step: Integers = described("first step with that sum")
    physical_peak_bytes: Integers = described(
        "most bytes of memory space 0 that hold a live value at one step", is_captioned=True
    )
    physical_peak_step: Integers = described("first step with that many bytes")
    sha256: Strings = described("digest of its files' contents")
    carrier: Strings = described("input format, such as text or proto")
    derived: StringLists = described(
        "facts that the input format does not state, but that follow by XLA's rules"
    )
    heap_trace_agrees: Booleans = described(
        "whether XLA's heap trace agrees with derived live ranges; absent if there is no heap trace"
    )
    path: Strings = described("folder that its run came from")
    ingested_at: Strings = described("ISO 8601, UTC")
    detail: Strings = described(
        "how much of it is stored: `all`, or `peak`, its totals, peaks and what is live there",
        is_indexed=True,
    )


class MemorySpaceNodes(NodeRows, key_prefix="#m/"):
    """One memory space in which a compilation has allocations."""

    key: Numbers = described("`compilation#m/color`")
    color: Integers = described("number of the memory space")
    name: Strings = described(
        "on a TPU, known by its layouts, such as HBM or VMEM; on a GPU, collective memory; on all, "
        "host; otherwise absent"
    )
    allocation_bytes: Integers = described("sum of its allocations, thread-local ones included")
    reserved_bytes: Integers = described(
        "sum of the allocations, thread-local ones left out", is_captioned=True
    )
    logical_peak_bytes: Integers = described("largest sum of the sizes of values live at one step")
    logical_peak_step: Integers = described("first step with that sum")
    physical_peak_bytes: Integers = described(
        "most bytes that hold a live value at one step", is_captioned=True
    )
    physical_peak_step: Integers = described("first step with that many bytes")


class MemoryStatisticNodes(NodeRows, key_prefix="#s/"):
    """A number of JAX's memory analysis, if `record` or `ingest_compiled` has stored it."""

    key: Names = described("`compilation#s/field`")
    field: Strings = described("its name in JAX, such as `temp_size_in_bytes`")
    stated_bytes: Integers = described("the number", is_captioned=True)
    allocation_bytes: Integers = described(
        "sum of the allocations that XLA counts for it; absent if it is not such a sum"
    )
    agrees: Booleans = described("whether both are equal; absent without a sum")


class PackedModuleNodes(NodeRows, key_prefix="#p/"):
    """The compiled module, compressed: what its operations do with dimensions is read from it."""

    key: Numbers = described("`compilation#p/0`")
    form: Strings = described("`text`, or `proto` for a serialized HloModuleProto")
    packed: Strings = described("base64 of zlib")


class AllocationNodes(NodeRows, key_prefix="#a/"):
    """One buffer of the plan."""

    key: Numbers = described("`compilation#a/number`")
    number: Integers = described("position in the dump")
    size_bytes: Integers = described("bytes reserved", is_captioned=True)
    role: Strings = described("parameter, output, temp, constant, threadLocal or liveOut")
    memory_space: Integers = described("its colour")
    page: Integers = described("page, where the dump prints one")
    parameter_number: Integers = described("entry parameter that it stores")
    shape_index: Strings = described("tuple index within that parameter, in braces")
    shape: Strings = described("shape of the parameter or output, without layout")
    donation: Strings = described(
        "donation by the caller: `paired` with an output, or `unpaired`; absent if it is not "
        "donated, or without the module's text"
    )
    donated_to: Strings = described("tuple index of the output that it is paired with, in braces")
    donated_value: Integers = described(
        "valueId of the value that the caller donates; absent if the input is not donated"
    )
    donation_outcome: Strings = described(
        "`in place` (an output uses its bytes without a copy), `copied first` or `never used`"
    )
    donation_reason: Strings = described("reason why no output is written over it in place")
    next_value: Strings = described("label of the next value in a donated input's bytes")
    donation_copy: Strings = described(
        "copy that preserves the old value or writes the new one, by its label"
    )
    donation_reader: Strings = described(
        "last instruction that reads the old value, and so prevents the update in place"
    )
    donation_reader_file: Strings = described("source file of your line that the reader is from")
    donation_reader_line: Integers = described("line in that file")
    is_output: Booleans = described("whether it contains the entry computation's top-level result")
    maybe_live_out: Booleans = described(
        "whether it may contain a part of the result, or its alias"
    )
    physical_peak_bytes: Integers = described("most bytes that hold a live value at one step")
    physical_peak_step: Integers = described("first step with that many bytes")
    largest_hole_bytes: Integers = described("largest gap between live values at that step")


class ValueNodes(NodeRows, key_prefix="#v/"):
    """One HLO value in a slot of an allocation."""

    key: Numbers = described("`compilation#v/valueId`")
    value_id: Integers = described("number that XLA gave it")
    name: Strings = described("name of the defining instruction")
    shape_index: Strings = described("tuple index in braces, if that instruction returns a tuple")
    label: Strings = described("name and tuple index", is_indexed=True)
    is_phi: Booleans = described("whether it merges values of two branches or iterations")
    shape: Strings = described("without layout")
    layout: Strings = described("as printed in braces; absent where none is printed")
    dtype: Strings = described("element type; `tuple`, `token` and `opaque` too")
    size_bytes: Integers = described("assigned size, padding included", is_captioned=True)
    dense_bytes: Integers = described("elements × bits of the type; absent for tuples and tokens")
    memory_space: Integers = described("its colour")
    allocation: Integers = described("number of its allocation")
    offset_bytes: Integers = described("start of its slot within the allocation")
    live_from: Integers = described("first step in which it is needed")
    live_until: Integers = described("last step in which it is needed, inclusive")
    last_use: Integers = described("largest step among the instructions that use it")
    range_end: Strings = described(
        "reason why its live range ends: `overwritten` in place; at the schedule's end "
        "`output`, `parameter`, `constant` or `end`; `unread`, `lastUse`, `kept` after it, "
        "`handedOn` before it"
    )
    alias_set: Integers = described("smallest valueId among the values joined by in-place updates")
    alias_position: Integers = described("position in that set by (liveFrom, liveUntil, valueId)")
    buffer_set: Integers = described(
        "smallest valueId among the values that must share an address by XLA's rules; absent "
        "without the module's text"
    )
    needed_until: Integers = described(
        "last step in which an entry parameter is needed, donated or not"
    )
    stack_loop: Strings = described(
        "loop whose iterations fill the stack, part by part, in whose bytes the value is"
    )
    stack_turns: Integers = described("parts of the stack, one for each iteration")
    turn_bytes: Integers = described(
        "bytes of one part: the stack's size divided by the iterations"
    )
    stack_element: Strings = described(
        "instruction that produces an iteration's part; absent if the write itself does"
    )
    opcode: Strings = described("opcode of the defining instruction")
    op_name: Strings = described("op name of the defining instruction, as the framework set it")
    source_file: Strings = described("source file of the defining instruction, innermost frame")
    source_line: Integers = described("line in that file")
    attribution: Strings = described(
        "rule that found its op: stack, own, inside, operand or reader; absent if none did"
    )
    attributed_op_name: Strings = described("op name of the instruction that it belongs to")
    attributed_file: Strings = described("source file of that instruction, innermost frame")
    attributed_line: Integers = described("line in that file")
    user_file: Strings = described("file of the innermost frame outside of installed packages")
    user_line: Integers = described("line in that file")
    user_function: Strings = described("function there; absent where the dump has no stacks")
    category: Strings = described(
        "its part in the program: weight, optimizerState, batch, state, gradient, activation, "
        "recomputed, gathered, collective, offloaded, scratch, output, constant, forward, "
        "backward, update or other"
    )
    category_reason: Strings = described("evidence for the category; absent for `other`")


class InstructionNodes(NodeRows, key_prefix="#i/"):
    """An HLO instruction that the dump names."""

    key: Names = described("`compilation#i/name`")
    name: Strings = described("unique in its compilation", is_indexed=True)
    opcode: Strings = described("HLO opcode", is_indexed=True)
    shape: Strings = described("with layout, as printed")
    op_name: Strings = described("op name, as the framework set it", is_indexed=True)
    source_file: Strings = described("source file, innermost frame")
    source_line: Integers = described("line in that file")
    computation: Strings = described("computation that it belongs to")
    calls: Strings = described("computation that a fusion, a call or the like runs")
    loop: Strings = described("innermost loop in which it runs, by the name of the `while`")
    turns: Integers = described("of a loop: how often its body runs, where XLA knows it")
    target: Strings = described("target of a custom call")
    root_opcode: Strings = described("opcode of a fusion's root")
    fused_opcodes: StringLists = described(
        "of a fusion: opcodes that it computes with, also in fusions inside of it, each once,"
        " sorted; absent if not all are known"
    )
    step: Integers = described("position in the schedule")
    post_order: Integers = described(
        "position in XLA's post-order, which decides between buffers of one size"
    )
    logical_bytes: Integers = described(
        "live in memory space 0 while it runs, in-place pairs twice"
    )
    physical_bytes: Integers = described("bytes of memory space 0 that hold a live value then")
    text: Strings = described("`name = shape opcode(…)…` as printed")
    sharding: Strings = described("of a parameter: how it is split over devices, in braces")
    sharding_parts: Integers = described(
        "number of different parts on the devices; 1 if each holds the whole array"
    )
    operands: StringLists = described("names of its operands in order; absent if there are none")
    control_predecessors: StringLists = described(
        "instructions that must run before it, not as operands"
    )
    callees: StringLists = described(
        "computations that it runs as part of the schedule: of a loop its condition and its body"
    )
    is_root: Booleans = described(
        "whether it returns its computation's result; absent without the module's text"
    )
    unique_id: Integers = described("number that XLA gave it; absent in text dumps")
    scoped_bytes: Integers = described(
        "VMEM that it takes only while it runs: a kernel's blocks, buffers and scratch; "
        "absent without the module's text after code generation"
    )
    scoped_limit_bytes: Integers = described("limit of that VMEM")
    scoped_smem_bytes: Integers = described("SMEM that it takes only while it runs")


class OpNodes(NodeRows, is_shared=True):
    """An op name, shared by all compilations."""

    key: Names = described("the op name")
    name: Strings = described("the op name", is_indexed=True)


class ScopeNodes(NodeRows, is_shared=True):
    """The first parts of an op name, split at `/` outside brackets."""

    key: Names = described("the leading part")
    name: Strings = described("the leading part", is_indexed=True)
    depth: Integers = described("parts in it, from 1")


class SourceLineNodes(NodeRows, is_shared=True):
    """A line of source code."""

    key: Names = described("`file:line`")
    file: Strings = described("as the framework recorded it", is_indexed=True)
    line: Integers = described("from 1", is_indexed=True)


class FrameNodes(NodeRows, is_shared=True):
    """A call path: a place in the source together with its callers."""

    key: Names = described("its place and a digest of the caller's key")
    function: Strings = described("qualified name of the function")
    file: Strings = described("source file")
    line: Integers = described("line in that file")
    source_column: Integers = described("column in that line")
    depth: Integers = described("callers above it and itself, from 1")
    tree_order: Strings = described(
        "sorts a tree of calls: callers before what they call, then by line"
    )


NODES: Final = tuple(rows.declared for rows in NodeRows.__subclasses__())
