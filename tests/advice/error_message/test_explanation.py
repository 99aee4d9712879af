"""Explanations: plan or allocator, missing bytes, changes, unknown facts."""

import pytest

from tests.advice.error_message import messages
from xlagraph.advice.error_message import explain, largest_lines, read_error_log


def failure_of(text):
    return read_error_log(text.splitlines()).failures[0]


def explanation(text):
    return explain(failure_of(text))


def test_the_plan_of_a_tpu_is_explained_from_its_table():
    said = explanation(messages.TPU_PLAN)
    assert said.verdict == (
        "The plan does not fit: the program needs 12.0 GiB of HBM, which has 8.0 GiB."
        " The compiler rejected the program; nothing was run."
    )
    assert said.facts == (
        "Missing: 4.0 GiB.",
        "In addition to the program: reserved 512.0 MiB, arguments 2.0 GiB.",
        "Padding: 6.0 GiB, 50.0% of the requested bytes.",
    )
    padding, largest, donation = said.changes
    assert padding.startswith(
        "Padding first: 3.8 GiB of f32[1024,1024,8]{2,1,0:T(8,128)} (/home/ann/model.py:12)"
    )
    assert largest.startswith(
        "The largest first: 6.0 GiB produced by jit(train)/jit(main)/mul (/home/ann/model.py:12)."
    )
    assert donation.startswith("Donate arguments (donate_argnums): 1.5 GiB of the output")


def test_a_bare_line_lists_the_unknown_facts_and_the_flags_that_show_them():
    said = explanation(messages.TPU_BARE)
    assert said.facts == ("Missing: 8.0 GiB.",)
    (unknown,) = said.unknown
    assert unknown.text == "which values are largest"
    assert '--xla_dump_to=DIR --xla_dump_hlo_as_text"' in unknown.remedy
    assert "xlagraph oom LOG --dumps DIR" in unknown.remedy


def test_a_failure_of_an_allocator_is_distinguished_and_lists_other_resident_bytes():
    said = explanation(messages.BFC + messages.BFC_STATISTICS + messages.GPU_ERROR)
    assert said.verdict == (
        "The plan was accepted, but the device was too full to allocate when it ran: 4.0 GiB were"
        " requested (the temporaries of the program, in one block); 2.0 GiB were free of 16.0 GiB."
    )
    assert said.facts[:2] == (
        "Missing: 2.0 GiB.",
        (
            "14.0 GiB were in use: 1.0 GiB at most are arguments and constants of this program,"
            " 13.0 GiB or more are arrays that you still hold and other programs."
        ),
    )
    assert [change.split(":")[0] for change in said.changes] == [
        "The largest first",
        "Donate arguments (donate_argnums)",
        "Free what is resident",
    ]


def test_an_allocator_without_statistics_says_that_the_free_bytes_are_unknown():
    said = explanation(messages.GPU_ERROR)
    assert "the message does not say how much was free" in said.verdict
    assert "how much was free, and the limit of the allocator" in [
        unknown.text for unknown in said.unknown
    ]


def test_a_program_that_cannot_be_loaded_is_named():
    said = explanation(messages.TPU_PROGRAM)
    assert said.verdict == (
        "The plan was accepted, but the device was too full to load a program when it ran: 6.0 GiB"
        " were requested by jit_serve; 5.0 GiB were free."
    )
    assert said.facts[:2] == (
        "Missing: 4.0 GiB.",
        "The largest free block had 2.0 GiB of 5.0 GiB free.",
    )


def test_enough_memory_in_small_blocks_is_fragmentation():
    text = messages.BFC + messages.BFC_STATISTICS.replace("15032385536", "8589934592")
    assert "the memory is fragmented" in explanation(text).facts[0]


@pytest.mark.parametrize("text", [messages.VMEM_SCOPED, messages.VMEM])
def test_scratch_memory_belongs_to_the_kernel(text):
    said = explanation(text)
    assert said.facts == (
        "Missing: 8.0 MiB." if text is messages.VMEM_SCOPED else "Missing: 4.0 MiB.",
    )
    (change,) = said.changes
    assert "vmem_limit_bytes" in change
    assert "--xla_tpu_scoped_vmem_limit_kib" in change


def test_the_source_line_of_the_user_is_shown():
    text = f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n{messages.TPU_BARE}'
    assert "Your line: a.py:3 in f." in explanation(text).facts


def test_sizes_that_look_equal_are_written_in_full():
    text = "Ran out of memory in memory space hbm. Used 15.76G of 15.75G hbm."
    assert "16,922,171,146 B of HBM, which has 16,911,433,728 B" in explanation(text).verdict


def test_allocations_of_one_line_and_op_are_summed():
    first, second = largest_lines(failure_of(messages.TPU_PLAN))
    assert (first.line, first.allocations) == ("/home/ann/model.py:12", 2)
    assert (first.size_bytes, first.padding_bytes) == (6 * 2**30, 3840 * 2**20)
    assert (second.line, second.op_name, second.label) == (None, None, "copy.9")


def test_the_lack_of_memory_outside_of_the_pool_is_not_blamed_on_the_program():
    told = explanation(messages.CUBIN)
    assert "no free memory outside of the pool" in told.verdict
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" in told.changes[0]
    assert told.unknown == ()


def test_shared_memory_is_about_the_blocks_of_a_kernel_and_not_the_batch():
    exceeded = explanation("INTERNAL: Shared memory requested exceeds device resources.; at f")
    assert "needs more shared memory than the GPU has" in exceeded.verdict
    told = explanation(messages.SHARED_MEMORY)
    assert told.verdict == (
        "A kernel does not fit: one of its blocks needs 128.0 KiB of the GPU's shared memory,"
        " which has 96.0 KiB. The batch does not change that."
    )
    assert "num_stages" in told.changes[0]


def test_rematerialization_is_explained_with_its_three_numbers():
    told = explanation(messages.REMATERIALIZATION)
    assert told.verdict == (
        "XLA's rematerialization reduced the program from 12.0 GiB to 10.0 GiB, and not to its"
        " limit of 8.0 GiB. The program was compiled all the same."
    )
    assert explanation(messages.ARGUMENTS).verdict == (
        "Inputs and outputs alone take 9.0 GiB, more than XLA's base limit of 8.0 GiB:"
        " no rematerialization can make the program fit."
    )


def test_inputs_above_the_limit_stay_the_cause_if_rematerialization_is_reported_too():
    report = messages.REMATERIALIZATION.replace("10737418240", "9663676416")
    told = explanation(f"{messages.ARGUMENTS}\n{report}")
    assert told.verdict.startswith("Inputs and outputs alone take 9.0 GiB")


def test_the_program_that_asked_the_allocator_is_reported():
    assert (
        "The program that requested it: jit_step." in explanation(messages.NAMED_EXECUTABLE).facts
    )


def test_a_constant_is_to_be_passed_as_an_argument():
    assert "Pass large arrays as arguments" in explanation(messages.CONSTANT).changes[0]
