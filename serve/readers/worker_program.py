"""The program that reads the graph for the service, which survives if the process dies.

A statement may overflow the engine's stack, use all memory or never finish. The process is then
ended and another one started.
"""

import os
import traceback
from collections.abc import Iterator
from typing import cast

from xlagraph.graph import Graph, GraphError, QueryFailed, QueryRefused, open_graph
from xlagraph.queries import BadParameter, QueryError, UnknownQuery
from xlagraph.serve.readers.jobs import Catalogue, Form, Job, ReadAnswer, Setup
from xlagraph.serve.readers.json_rows import json_array, json_lines, json_object
from xlagraph.serve.readers.reads import READS, JsonRows

__all__ = ["answers"]


def answers(tasks: Iterator[object]) -> Iterator[bytes]:
    """Yield whether the graph of a setup, the first task, can be opened, then each job's answer."""
    setup = cast("Setup", next(tasks))
    os.nice(setup.niceness)
    try:
        graph = open_graph(setup.location, ask_password=lambda _: setup.password)
    except GraphError as error:
        yield ReadAnswer.refusal(503, str(error)).encoded()
        return
    yield ReadAnswer(200, b"").encoded()
    for job in cast("Iterator[Job]", tasks):
        yield _answer(graph, setup.catalogue, job).encoded()


def _answer(graph: Graph, catalogue: Catalogue, job: Job) -> ReadAnswer:
    try:
        return _written(READS[job.read](graph, catalogue, **job.arguments), job.form)
    except UnknownQuery as error:
        return ReadAnswer.refusal(404, str(error))
    except (BadParameter, QueryRefused, QueryFailed) as error:
        return ReadAnswer.refusal(400, str(error))
    except QueryError as error:  # no run, compilation or value of that name, or several
        return ReadAnswer.refusal(404, str(error))
    except GraphError as error:
        return ReadAnswer.refusal(503, str(error))
    except MemoryError:
        return ReadAnswer.refusal(400, "the read needs more memory than available; request less")
    except Exception as error:  # noqa: BLE001  the border of this process
        traceback.print_exc()
        return ReadAnswer.refusal(500, f"{type(error).__name__} (this is a defect of xlagraph)")


def _written(found: JsonRows | bytes, form: Form) -> ReadAnswer:
    if isinstance(found, bytes):
        return ReadAnswer(200, found)
    notes = tuple(found.notes)
    if form is Form.LINES:
        return ReadAnswer(200, json_lines(found.rows, notes))
    body = json_object(found.rows[0]) if found.is_one else json_array(found.rows)
    return ReadAnswer(200, body, notes)
