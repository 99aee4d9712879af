"""Metrics of the service for Prometheus."""

from functools import partial

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from starlette.requests import Request
from starlette.responses import Response

from xlagraph.serve.readers.jobs import Lane
from xlagraph.serve.readers.workers import Workers
from xlagraph.serve.responses import HeldBytes

__all__ = ["Metrics"]


class Metrics:
    """Counts of requests by route and status, reads by lane, and unsent bytes."""

    def __init__(self, workers: Workers, held: HeldBytes) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "xlagraph_requests",
            "Requests that were answered",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "xlagraph_request_seconds",
            "Time from a request to the end of its answer",
            ("route",),
            registry=self._registry,
        )
        reading = Gauge(
            "xlagraph_reads_under_way",
            "Processes that read the graph now",
            ("lane",),
            registry=self._registry,
        )
        waiting = Gauge(
            "xlagraph_reads_waiting",
            "Reads that wait for a process",
            ("lane",),
            registry=self._registry,
        )
        ended = Gauge(
            "xlagraph_processes_ended",
            "Processes that were ended for their time or memory, or died, since the start",
            ("lane",),
            registry=self._registry,
        )
        for lane in Lane:
            counts = workers.lane_counts(lane)
            reading.labels(lane.value).set_function(partial(getattr, counts, "reading"))
            waiting.labels(lane.value).set_function(partial(getattr, counts, "waiting"))
            ended.labels(lane.value).set_function(partial(getattr, counts, "ended"))
        Gauge(
            "xlagraph_held_bytes", "Answers that wait to be read", registry=self._registry
        ).set_function(lambda: held.size_bytes)

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    async def respond(self, request: Request) -> Response:
        """Return the numbers in the text form of Prometheus."""
        del request
        return Response(
            generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )
