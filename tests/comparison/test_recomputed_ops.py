"""Ops that `tf.recompute_grad` computes again, of which no op name tells."""

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

GUARD = '  %eq = pred[] compare(%g, %g), direction=EQ, metadata={op_name="Equal_1"}\n'


def test_ops_between_gradients_are_of_a_checkpoint_if_they_wait_for_one(tmp_path):
    for run, again, guard in (("kept", False, ""), ("again", True, GUARD), ("other", True, "")):
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", _dump(again=again))
        module = path.with_name(path.name.replace("-buffer-assignment", ""))
        module.write_text(f"HloModule jit_f, is_scheduled=true\n{guard}")
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        assert compare(graph, "kept", "again").sentences[0].line == "checkpoint added: -64 B"
        assert compare(graph, "again", "kept").sentences[0].line == "checkpoint gone: +64 B"
        others = compare(graph, "kept", "other").sentences
    assert not any("checkpoint" in each.text for each in others)


def _dump(*, again: bool) -> str:
    """Return a chain of ops and gradients of it, which need its first op or compute all again."""
    ops = [(f"f{n}", f"exp({f'f{n - 1}' if n else 'x'})", f"Gelu_{n}/mul") for n in range(5)]
    ops.append(("g", "dot(f4)", "gradient_tape/MatMul"))
    if again:
        ops += [
            (f"r{n}", f"exp({f'r{n - 1}' if n else 'g'})", f"Gelu_{n + 9}/mul") for n in range(5)
        ]
    ops.append(("h", f"dot({'r4' if again else 'f0'})", "gradient_tape/Gelu/mul"))
    last = len(ops)
    values = [f"0 | x | f32[16]{{0}} | 0 | 64 | 0-{last} | parameter(0) | XLA_Args"]
    for step, (name, made, op_name) in enumerate(ops, 1):
        is_kept = name == "f0" and not again
        at, until = (128, last) if is_kept else (64 * (step % 2), min(step + 1, last))
        values.append(
            f"1 | {name} | f32[16]{{0}} | {at} | 64 | {step}-{until} | {made} | {op_name}"
        )
    size = 128 if again else 192
    blocks = f"0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {{}}\n1 | {size}"
    return tiny_dump(f"{blocks} | preallocated-temp", "\n".join(values))
