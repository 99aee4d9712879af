"""Each form of an out-of-memory message, and the facts read from it."""

import pytest

from tests.advice.error_message import messages
from xlagraph.advice.error_message import BreakdownPart, LargeAllocation, Stage, read_error_log

KIB, MIB, GIB = 2**10, 2**20, 2**30


def failures(text):
    return read_error_log(text.splitlines(keepends=True)).failures


def only_failure(text):
    (failure,) = failures(text)
    return failure


def test_the_table_of_a_tpu_has_sizes_parts_and_the_largest_allocations():
    failure = only_failure(messages.TPU_PLAN)
    assert (failure.stage, failure.code, failure.memory_space) == (Stage.PLAN, "E1000", "hbm")
    assert (failure.requested_bytes, failure.capacity_bytes) == (12 * GIB, 8 * GIB)
    assert failure.missing_bytes == 4 * GIB
    assert (failure.output_bytes, failure.output_shared_bytes) == (2 * GIB, 512 * MIB)
    assert failure.parts == (
        BreakdownPart("total", "reserved", 512 * MIB),
        BreakdownPart("total", "program", 12 * GIB),
        BreakdownPart("total", "arguments", 2 * GIB),
        BreakdownPart("program", "global", 64 * KIB),
        BreakdownPart("program", "scoped", MIB),
        BreakdownPart("program", "HLO temp", 12 * GIB, padding_bytes=6 * GIB),
    )
    assert failure.largest[0] == LargeAllocation(
        4 * GIB,
        op_name="jit(train)/jit(main)/mul",
        source_file="/home/ann/model.py",
        source_line=12,
        shape="f32[1024,1024,8]{2,1,0:T(8,128)}",
        unpadded_bytes=256 * MIB,
        instruction="fusion.1",
        label="%fusion.1 = f32[1024,1024,8]{2,1,0:T(8,128)} fusion(f32[8]{0} %p.1), kind=kLoop",
        kind="HLO temp",
    )
    assert [entry.size_bytes for entry in failure.largest] == [4 * GIB, 2 * GIB, 3 * GIB]
    assert [entry.padding_bytes for entry in failure.largest] == [3840 * MIB, 0, 0]
    assert failure.module == "jit_train"
    assert not failure.is_cut


def test_sections_of_other_memory_spaces_do_not_belong_to_the_failure():
    other = "Total host usage >= 1.00G:\n    program          1.00G\n"
    other += "Program vmem requirement 3.00M:\n    scoped           3.00M\n"
    text = messages.TPU_PLAN.replace("\nTotal hbm", f"\n{other}\nTotal hbm")
    assert only_failure(text).parts == only_failure(messages.TPU_PLAN).parts


@pytest.mark.parametrize(
    ("text", "requested", "capacity", "missing", "space"),
    [
        (messages.TPU_BARE, 40 * GIB, 32 * GIB, 8 * GIB, "hbm"),
        (messages.TPU_TWO_CORES, 104 * GIB, 96 * GIB, 8 * GIB, "hbm"),
        (messages.TPU_TEMPORARIES, 24 * GIB, 16 * GIB, 8 * GIB, "hbm"),
        (messages.TPU_ONE_ALLOCATION, 4096, 1024, 3072, "hbm"),
        (messages.VMEM, 20 * MIB, 16 * MIB, 4 * MIB, "vmem"),
        (messages.VMEM_SCOPED, 24 * MIB, 16 * MIB, 8 * MIB, "vmem"),
    ],
)
def test_a_plan_that_is_too_large_has_both_sizes(text, requested, capacity, missing, space):
    failure = only_failure(text)
    assert failure.stage is Stage.PLAN
    assert (failure.requested_bytes, failure.capacity_bytes) == (requested, capacity)
    assert (failure.missing_bytes, failure.memory_space) == (missing, space)


def test_a_scoped_allocation_names_its_instruction_and_module():
    failure = only_failure(messages.VMEM_SCOPED)
    assert failure.is_scoped
    assert (failure.code, failure.instruction, failure.module) == (
        "E1001",
        "attention.3",
        "jit_decode",
    )


def test_an_allocation_larger_than_its_memory_is_listed_with_its_padding():
    failure = only_failure(messages.TPU_ONE_ALLOCATION)
    assert failure.largest == (
        LargeAllocation(
            4096,
            shape="f32[8,16]{1,0:T(8,128)}",
            unpadded_bytes=512,
            instruction="add_fusion",
        ),
    )
    assert not failure.is_scoped
    scoped = messages.TPU_ONE_ALLOCATION.replace("output of add_fusion@{}", "scoped memory for k.2")
    assert only_failure(scoped).is_scoped
    assert only_failure(scoped).instruction == "k.2"


def test_the_missing_bytes_of_a_tpu_buffer_are_those_beyond_the_free_ones():
    failure = only_failure(messages.TPU_BUFFER)
    assert failure.stage is Stage.ALLOCATOR
    assert (failure.requested_bytes, failure.free_bytes) == (3 * GIB, GIB)
    assert failure.missing_bytes == 2 * GIB


def test_the_missing_bytes_of_fragmented_memory_are_those_beyond_the_largest_free_block():
    text = messages.TPU_BUFFER.replace(
        "There are 1.00G free.",
        "There are 4.00G free. Due to fragmentation, the largest contiguous region of free memory"
        " is 2.50G.",
    )
    assert only_failure(text).missing_bytes == GIB // 2


def test_a_program_that_cannot_be_loaded_names_its_module():
    failure = only_failure(messages.TPU_PROGRAM)
    assert (failure.stage, failure.module, failure.code) == (
        Stage.PROGRAM_LOAD,
        "jit_serve",
        "E0101",
    )
    assert (failure.free_bytes, failure.contiguous_bytes) == (5 * GIB, 2 * GIB)
    assert failure.missing_bytes == 4 * GIB


def test_the_table_of_the_runtime_has_capacity_and_used_bytes():
    failure = only_failure(messages.TPU_RUNTIME_TABLE)
    assert failure.stage is Stage.PROGRAM_LOAD
    assert (failure.capacity_bytes, failure.in_use_bytes) == (8 * GIB, 5632 * MIB)
    assert failure.part_bytes("heap allocations (without fragmentation)") == 5 * GIB


def test_a_gpu_names_the_parts_of_the_assignment_and_its_peak_buffers():
    failure = only_failure(messages.GPU_ERROR)
    assert failure.stage is Stage.ALLOCATOR
    assert failure.requested_bytes == 4294967000
    assert failure.missing_bytes is None
    assert failure.parts == (
        BreakdownPart("assignment", "parameter", GIB),
        BreakdownPart("assignment", "constant", 0),
        BreakdownPart("assignment", "maybe_live_out", 2 * GIB),
        BreakdownPart("assignment", "preallocated temp", 4 * GIB),
        BreakdownPart("assignment", "total", 7 * GIB),
    )
    first, second = failure.largest
    assert (first.source_file, first.source_line) == ("/home/ann/loss.py", 7)
    assert (first.label, first.instruction) == ("fusion", None)
    assert (second.kind, second.shape) == ("parameter", "f32[1024,262144]")
    assert failure.module == "jit_step"


def test_reports_of_the_allocator_and_of_xla_are_one_failure():
    text = messages.BFC + messages.BFC_STATISTICS + messages.GPU_ERROR
    failure = only_failure(text)
    assert failure.allocator == "GPU_0_bfc"
    assert (failure.capacity_bytes, failure.in_use_bytes) == (16 * GIB, 14 * GIB)
    assert failure.room_bytes == 2 * GIB
    assert failure.missing_bytes == 2 * GIB
    assert len(failure.largest) == 2


def test_a_warning_of_an_allocator_is_not_a_failure():
    text = messages.BFC.rstrip("\n") + (
        " with freed_by_count=0. The caller indicates that this is not a failure, but may mean"
        " that there could be performance gains if more memory were available.\n"
    )
    assert failures(text) == ()


def test_a_tensor_of_tensorflow_has_the_size_of_its_shape():
    failure = only_failure(messages.TENSOR)
    assert (failure.requested_bytes, failure.allocator) == (2 * MIB, "GPU_0_bfc")
    assert failure.largest == (LargeAllocation(2 * MIB, shape="f16[1024,1024]"),)


def test_the_tensor_is_found_after_the_allocator_has_reported_its_size():
    allocator = "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB\n"
    failure = only_failure(allocator + messages.BFC_STATISTICS + messages.TENSOR)
    assert failure.largest == (LargeAllocation(2 * MIB, shape="f16[1024,1024]"),)
    assert failure.capacity_bytes == 16 * GIB


@pytest.mark.parametrize(
    ("text", "requested"),
    [
        (messages.CPU, 2**40),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1.50GiB.", 1536 * MIB),
        (
            "Resource exhausted: Failed to allocate request for 32.00MiB (33554432B) on device 0",
            32 * MIB,
        ),
        (
            "failed to allocate 1.00GiB (1073741824 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
            GIB,
        ),
    ],
)
def test_the_requested_bytes_of_other_allocators_are_read(text, requested):
    failure = only_failure(text)
    assert (failure.stage, failure.requested_bytes) == (Stage.ALLOCATOR, requested)


def test_the_limit_of_an_allocator_is_read():
    failure = only_failure("Failed to allocate 600 bytes. Memory limit: 1000 bytes. Used: 500.)")
    assert (failure.capacity_bytes, failure.in_use_bytes, failure.missing_bytes) == (1000, 500, 100)


def test_code_of_a_kernel_without_memory_outside_of_the_pool_is_a_failure_to_load():
    failure = only_failure(messages.CUBIN)
    assert (failure.stage, failure.is_outside_pool) == (Stage.PROGRAM_LOAD, True)


@pytest.mark.parametrize("text", [messages.SHARED_MEMORY, messages.TRITON])
def test_shared_memory_of_a_kernel_has_both_sizes(text):
    failure = only_failure(text)
    assert (failure.memory_space, failure.is_scoped) == ("shared", True)
    assert (failure.requested_bytes, failure.capacity_bytes) == (131072, 98304)


def test_the_asynchronous_allocator_says_what_is_free_and_in_use():
    failure = only_failure(messages.CUDA_ASYNC)
    assert (failure.stage, failure.allocator) == (Stage.ALLOCATOR, "gpu_async_3")
    assert (failure.requested_bytes, failure.free_bytes) == (4 * GIB, GIB)
    assert (failure.capacity_bytes, failure.in_use_bytes) == (8 * GIB, 6 * GIB)
    assert failure.missing_bytes == 3 * GIB


def test_the_name_of_the_executable_is_the_module():
    assert only_failure(messages.NAMED_EXECUTABLE).module == "jit_step"


def test_rematerialization_has_its_limit_what_it_reached_and_what_was_before():
    failure = only_failure(messages.REMATERIALIZATION)
    assert failure.stage is Stage.REMATERIALIZATION
    assert (failure.capacity_bytes, failure.requested_bytes) == (8 * GIB, 10 * GIB)
    assert (failure.original_bytes, failure.missing_bytes) == (12 * GIB, 2 * GIB)


def test_arguments_above_the_base_limit_have_both_sizes():
    failure = only_failure(messages.ARGUMENTS)
    assert failure.stage is Stage.REMATERIALIZATION
    assert (failure.capacity_bytes, failure.requested_bytes) == (8 * GIB, 9 * GIB)


def test_a_constant_that_cannot_be_allocated_is_known_as_one():
    failure = only_failure(messages.CONSTANT)
    assert (failure.requested_bytes, failure.is_constant) == (GIB, True)
