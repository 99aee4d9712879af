"""A program whose values are all live at once: each is made first and read after all are made."""

from benchmarks.programs.hlo_text import ADAM, LOSS, array
from benchmarks.programs.program import Program
from benchmarks.programs.step_builder import Ref, StepBuilder
from benchmarks.programs.step_ending import finish

_WIDTHS = (256, 320, 384, 448, 512, 576, 640)


def wide_peak(live: int) -> Program:
    """Plan a program of twice as many values, of which ``live`` are live at its peak."""
    builder = StepBuilder("jit_wide_peak")
    seed = builder.parameter("seed", "f32[]", "seed")
    made: list[Ref] = []
    for number in range(live):
        shape = array("f32", _WIDTHS[number % len(_WIDTHS)])
        op = f"jit(wide_peak)/layer_{number % 100}/mul"
        made.append(builder.operation("broadcast", shape, [seed], op, ADAM, ", dimensions={}"))
    total = seed
    for number, value in enumerate(made):
        op = f"jit(wide_peak)/layer_{number % 100}/reduce_sum"
        total = builder.operation("custom-call", "f32[]", [value, total], op, LOSS)
    return finish(builder, [total])
