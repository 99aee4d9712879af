"""Users' questions about growth: dumps, and the answer of one command."""

from tests.queries.questions.steps import Answer, step


def test_memory_grew_after_an_upgrade_by_which_op(answer: Answer):
    assert answer(
        {"old/jit_f": step(32), "new/jit_f": step(512)},
        "query compare/ops --run-a old --run-b new --limit 1",
        "opName bytesA bytesB growthBytes",
    ) == [("jit(f)/att/exp", 128, 2048, 1920)]


def test_memory_grew_after_an_upgrade_by_which_line(answer: Answer):
    assert answer(
        {"old/jit_f": step(32), "new/jit_f": step(512)},
        "query compare/lines --run-a old --run-b new --limit 1",
        "sourceFile sourceLine growthBytes",
    ) == [("model.py", 9, 1920)]


def test_when_did_this_memory_appear(answer: Answer):
    assert answer(
        {"night-1/jit_f": step(32), "night-2/jit_f": step(32), "night-3/jit_f": step(512)},
        "query trend/op --op-name jit(f)/att/exp --sort-by run",
        "run bytes",
    ) == [("night-1", 128), ("night-2", 128), ("night-3", 2048)]
