"""The process that reads the graph; the service survives if it dies.

A statement may overflow the engine's stack, use all memory or never finish. This process is then
ended and another one started. It reads jobs from standard input and answers on standard output. It
ends when its input is closed, even in the middle of a read.
"""

import os
import pickle
import resource
import sys
import threading
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from typing import BinaryIO

from xlagraph.graph import Graph, GraphError, QueryFailed, QueryRefused, open_graph
from xlagraph.queries import BadParameter, QueryError, UnknownQuery
from xlagraph.serve.readers.jobs import Answer, Catalogue, Form, Job, Setup, frame
from xlagraph.serve.readers.reads import READS, Rows
from xlagraph.serve.readers.written_rows import json_array, json_lines, json_object


def main() -> None:
    """Read until the input ends."""
    # what an engine prints must not get between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    setup: Setup = pickle.load(sys.stdin.buffer)  # noqa: S301  from who started this process
    os.nice(setup.niceness)
    jobs: SimpleQueue[Job] = SimpleQueue()
    try:
        graph = open_graph(setup.location, ask_password=lambda _: setup.password)
    except GraphError as error:
        _send(answers, Answer.refusal(503, str(error)))
        return
    _send(answers, Answer(200, b""))
    threading.Thread(target=_receive, args=(sys.stdin.buffer, jobs.put), daemon=True).start()
    while True:
        _send(answers, _answer(graph, setup.catalogue, jobs.get()))


def _receive(stream: BinaryIO, put: Callable[[Job], None]) -> None:
    """Receive jobs from a stream; end the process when it is closed, even during a read."""
    try:
        while True:
            put(pickle.load(stream))  # noqa: S301  from who started this process
    finally:
        os._exit(0)


def _send(stream: BinaryIO, answer: Answer) -> None:
    stream.write(frame({"status": answer.status, "notes": answer.notes}, answer.body))
    stream.flush()


def _answer(graph: Graph, catalogue: Catalogue, job: Job) -> Answer:
    try:
        return _written(READS[job.read](graph, catalogue, **job.arguments), job.form)
    except UnknownQuery as error:
        return Answer.refusal(404, str(error))
    except (BadParameter, QueryRefused, QueryFailed) as error:
        return Answer.refusal(400, str(error))
    except QueryError as error:  # no run, compilation or value of that name, or several
        return Answer.refusal(404, str(error))
    except GraphError as error:
        return Answer.refusal(503, str(error))
    except MemoryError:
        return Answer.refusal(400, "the read needs more memory than available; request less")
    except Exception as error:  # noqa: BLE001  the border of this process
        traceback.print_exc()
        return Answer.refusal(500, f"{type(error).__name__} (this is a defect of xlagraph)")


def _written(found: Rows | bytes, form: Form) -> Answer:
    if isinstance(found, bytes):
        return Answer(200, found)
    notes = tuple(found.notes)
    if form is Form.LINES:
        return Answer(200, json_lines(found.rows, notes))
    body = json_object(found.rows[0]) if found.is_one else json_array(found.rows)
    return Answer(200, body, notes)


if __name__ == "__main__":
    main()
