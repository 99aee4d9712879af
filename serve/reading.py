"""Reads the graph for a request, until its client disconnects."""

import asyncio

from starlette.requests import Request

from xlagraph.serve.readers.jobs import Job, ReadAnswer
from xlagraph.serve.readers.workers import Workers

__all__ = ["ClientGone", "read_for"]


class ClientGone(Exception):
    """The client disconnected before the answer."""


async def read_for(request: Request, workers: Workers, job: Job) -> ReadAnswer:
    """Return a job's answer; end it and raise ClientGone if the client disconnects."""
    reading = asyncio.create_task(workers.read(job))
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            raise ClientGone
        return reading.result()
    finally:
        reading.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
