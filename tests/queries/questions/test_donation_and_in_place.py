"""Users' questions about donation and updates in place: dumps, and the answer."""

from tests.queries.questions.steps import Answer


def test_some_donated_buffers_were_not_usable(answer: Answer):
    # `state` could have been donated: an output has its shape. Donating `weights` is
    # useless, the new ones are of another type.
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
        2 | 512  | parameter 2, shape |f32[128]| at ShapeIndex {}
        3 | 2048 | maybe-live-out
        4 | 512  | maybe-live-out
    """
    values = """
        0 | weights     | f32[1024]{0}  | 0 | 4096 | 0-6 | parameter(0)
        1 | used        | f32[1024]{0}  | 0 | 4096 | 0-5 | parameter(1)
        2 | state       | f32[128]{0}   | 0 | 512  | 0-6 | parameter(2)
        3 | new_weights | bf16[1024]{0} | 0 | 2048 | 3-6 | fusion(weights, state)
        4 | new_state   | f32[128]{0}   | 0 | 512  | 4-6 | fusion(state)
        1 | new_used    | f32[1024]{0}  | 0 | 4096 | 5-6 | fusion(used)
    """
    assert answer(
        {"run/jit_step": (allocations, values)},
        "query alias/not-donated",
        "parameterNumber value shape freeOutputs savedBytes",
    ) == [(2, "state", "f32[128]", 1, 512)]


def test_donated_and_still_copied_because_it_is_needed_afterwards(answer: Answer):
    # The loss reads the old `x` after the new one exists: donation would force a copy.
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
        2 | 4    | output shape is |f32[]|, maybe-live-out
    """
    values = """
        0 | x     | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | new_x | f32[1024]{0} | 0 | 4096 | 1-3 | fusion(x)        | jit(step)/sub
        2 | loss  | f32[]        | 0 | 4    | 2-3 | fusion(new_x, x) | jit(step)/loss
    """
    assert answer(
        {"run/jit_step": (allocations, values)},
        "query alias/not-donated",
        "value lastUse candidateOutputs freeOutputs savedBytes",
    ) == [("x", 2, 1, 0, 0)]


CACHE = """
    0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out
    1 | 32   | parameter 1, shape |f32[8]| at ShapeIndex {}
    2 | 4096 | preallocated-temp
    3 | 4    | output shape is |f32[]|, maybe-live-out
"""


def test_is_my_dynamic_update_slice_in_place(answer: Answer):
    values = """
        0 | cache | f32[1024]{0} | 0 | 4096 | 0-2 | parameter(0)
        1 | row   | f32[8]{0}    | 0 | 32   | 0-4 | parameter(1)
        0 | dus   | f32[1024]{0} | 0 | 4096 | 2-4 | dynamic-update-slice(cache, row) | jit(f)/dus
        3 | sum   | f32[]        | 0 | 4    | 3-4 | fusion(dus)
    """
    assert answer(
        {"run/jit_decode": (CACHE.replace("2 | 4096 | preallocated-temp\n", ""), values)},
        "query alias/in-place",
        "earlier later sharedBytes step opcode",
    ) == [("cache", "dus", 4096, 2, "dynamic-update-slice")]


def test_why_does_updating_a_slice_copy_the_whole_cache(answer: Answer):
    # `attend` still reads the old cache after the update: XLA saves it first.
    values = """
        0 | cache  | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | row    | f32[8]{0}    | 0 | 32   | 0-5 | parameter(1)
        2 | copy.1 | f32[1024]{0} | 0 | 4096 | 2-4 | copy(cache)
        0 | dus    | f32[1024]{0} | 0 | 4096 | 3-5 | dynamic-update-slice(cache, row) | jit(f)/dus
        3 | attend | f32[]        | 0 | 4    | 4-5 | fusion(copy.1, dus)
    """
    assert answer(
        {"run/jit_decode": (CACHE, values)},
        "query alias/copies",
        "value copied copiedFrom usedBy users ofParameter originalLive physicalBytes",
    ) == [("copy.1", "cache", "cache", "attend", 1, True, True, 4096)]


def test_why_is_loop_state_copied(answer: Answer):
    allocations = """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | maybe-live-out
    """
    values = """
        0 | x       | f32[1024]{0} | 0 | 4096 | 0-3 | parameter(0)
        1 | copy.1  | f32[1024]{0} | 0 | 4096 | 1-2 | copy(x)        | jit(f)/while
        1 | loop{0} | f32[1024]{0} | 0 | 4096 | 2-3 | while(copy.1)  | jit(f)/while
    """
    assert answer(
        {"run/jit_loop": (allocations, values)},
        "query alias/copies",
        "value copied usedBy ofLoop ofParameter opName",
    ) == [("copy.1", "x", "loop", True, True, "jit(f)/while")]
