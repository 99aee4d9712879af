"""The log around a message does not matter: prefixes, escapes, colours, cuts, repeats."""

import json

import pytest

from tests.advice.error_message import messages
from xlagraph.advice.error_message import TracebackLine, read_error_log

PLAIN = read_error_log(messages.TPU_PLAN.splitlines()).failures[0]


def read(text):
    return read_error_log(text.splitlines(keepends=True))


def without_place(failure):
    return {
        name: getattr(failure, name)
        for name in failure.__dataclass_fields__
        if name not in ("line_number", "traceback_line")
    }


def prefixed(prefix):
    return "".join(f"{prefix}{line}" for line in messages.TPU_PLAN.splitlines(keepends=True))


@pytest.mark.parametrize(
    "text",
    [
        prefixed("2026-01-02 03:04:05.678901: E    1578 xla/xla_client/xla_util.cc:76] "),
        prefixed("E0000 00:00:1716879764.350251   27487 compiler.cc:2826] "),
        prefixed("2026-01-02T03:04:05.678Z "),
        prefixed("(Worker pid=489, ip=10.0.0.7) "),
        prefixed("\x1b[36m(Worker pid=489)\x1b[0m "),
        prefixed("[rank0]: "),
        prefixed("[1,0]<stderr>:"),
        prefixed("3: "),
        prefixed("2026-01-02 03:04:05,678 ERROR: "),
        messages.TPU_PLAN.replace("\n", "\r\n"),
        "jaxlib.xla_extension.XlaRuntimeError: " + messages.TPU_PLAN,
        "RuntimeError: Bad StatusOr access: " + messages.TPU_PLAN,
        "\x1b[31m" + messages.TPU_PLAN.replace("Used", "\x1b[1mUsed\x1b[0m"),
        json.dumps({"severity": "ERROR", "message": messages.TPU_PLAN}),
        json.dumps({"log": json.dumps({"message": messages.TPU_PLAN})}),
        "XlaRuntimeError(" + repr(messages.TPU_PLAN) + ")",
    ],
    ids=lambda text: text[:30].encode("unicode_escape").decode(),
)
def test_the_message_reads_the_same_in_every_log(text):
    (failure,) = read(f"step 1 ok\n{text}\nbye\n").failures
    assert without_place(failure) == without_place(PLAIN)


def test_a_message_without_its_line_breaks_keeps_its_list():
    text = " ".join(line.strip() for line in messages.TPU_PLAN.splitlines())
    (failure,) = read(text).failures
    assert [entry.size_bytes for entry in failure.largest] == [
        entry.size_bytes for entry in PLAIN.largest
    ]


def test_a_wrapped_headline_is_one_failure():
    text = messages.TPU_BARE.replace("memory space hbm.", "memory space\n   hbm.")
    (failure,) = read(f"{text}\n{messages.TPU_BARE}\n").failures
    assert failure.requested_bytes == 40 * 2**30
    assert failure.memory_space == "hbm"
    (failure,) = read(messages.TPU_BARE.replace(" Exceeded", "\n Exceeded")).failures
    assert failure.missing_bytes == 8 * 2**30


@pytest.mark.parametrize("end", range(170, len(messages.TPU_PLAN), 97))
def test_a_cut_message_is_read_up_to_the_cut(end):
    (failure,) = read(messages.TPU_PLAN[:end]).failures
    assert failure.requested_bytes in (12 * 2**30, None)
    assert len(failure.largest) <= 3


def test_a_cut_in_the_list_is_reported():
    text = messages.TPU_PLAN
    assert not read(text).failures[0].is_cut
    assert read(text[: text.index("  2. Size") + 20]).failures[0].is_cut
    assert read(text[: text.index("  1. Size")]).failures[0].is_cut


@pytest.mark.parametrize("size", ["", "1", "1.", "1.5", "1.50", "1.50Gi", "1Gi"])
def test_a_cut_size_is_not_taken_for_another(size):
    (failure,) = read(f"Out of memory while trying to allocate {size}").failures
    assert failure.requested_bytes == (1 if size in ("1", "1.") else None)


def test_one_failure_that_is_reported_three_times_counts_once():
    (failure,) = read(messages.TPU_PLAN * 3).failures
    assert without_place(failure) == without_place(PLAIN)
    assert failure.line_number == 1


def test_several_failures_keep_their_order_and_their_lines():
    text = f"start\n{messages.TPU_BARE}\nagain\n{messages.TPU_BUFFER}\n{messages.TPU_BARE}\n"
    first, second = read(text).failures
    assert (first.requested_bytes, first.line_number) == (40 * 2**30, 2)
    assert (second.requested_bytes, second.line_number) == (3 * 2**30, 4)


def test_lines_of_the_program_between_those_of_the_message_are_skipped():
    lines = messages.TPU_PLAN.splitlines()
    mixed = "\n".join(part for line in lines for part in (line, "host 3: step 7, loss 0.25"))
    (failure,) = read(mixed).failures
    assert len(failure.largest) == 3


def test_the_innermost_source_line_of_the_user_is_from_the_traceback():
    text = f"""\
Traceback (most recent call last):
  File "/home/ann/train.py", line 90, in <module>
    main()
  File "/home/ann/train.py", line 61, in main
    state = step(state, batch)
  File "/opt/lib/python3.12/site-packages/jax/_src/pjit.py", line 9, in call
    return f()
jaxlib.xla_extension.XlaRuntimeError: {messages.TPU_PLAN}"""
    (failure,) = read(text).failures
    assert failure.traceback_line == TracebackLine("/home/ann/train.py", 61, "main")
    # the compiler's report is first, without a traceback
    (failure,) = read(f"E0000 00:00:1.1 7 a.cc:1] {messages.TPU_PLAN}\n{text}").failures
    assert failure.traceback_line == TracebackLine("/home/ann/train.py", 61, "main")


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("Cell In[5], line 3\n      1 a\n----> 3 f(x)\n", ("Cell In[5]", 3, None)),
        ("File ~/model/t.py:12, in step(x)\n", ("~/model/t.py", 12, "step")),
        (
            "<ipython-input-7-ab12> in <module>()\n     20 a\n---> 21 f(x)\n",
            ("<ipython-input-7-ab12>", 21, None),
        ),
    ],
)
def test_the_line_of_a_notebook_is_found(frame, expected):
    (failure,) = read(f"{frame}XlaRuntimeError: {messages.TPU_BARE}\n").failures
    assert failure.traceback_line == TracebackLine(*expected)


def test_a_traceback_of_another_error_does_not_belong_to_the_message():
    text = f"""\
Traceback (most recent call last):
  File "/home/ann/other.py", line 1, in <module>
ValueError: no
Traceback (most recent call last):
XlaRuntimeError: {messages.TPU_BARE}
"""
    assert read(text).failures[0].traceback_line is None


def test_a_log_without_a_failure_has_none():
    log = read("all well\nout of the box\n")
    assert (log.failures, log.unknown, log.line_count) == ((), None, 2)


def test_a_status_that_is_not_about_memory_is_shown():
    log = read("fine\ngrpc: RESOURCE_EXHAUSTED: received message larger than max\n")
    assert log.failures == ()
    assert log.unknown == (2, "grpc: RESOURCE_EXHAUSTED: received message larger than max")


def test_a_long_log_is_read_line_by_line():
    def lines():
        for step in range(30_000):
            yield f"step {step} took 0.1 s\n"
        yield messages.TPU_BARE + "\n"

    log = read_error_log(lines())
    assert log.line_count == 30_001
    assert log.failures[0].line_number == 30_001
