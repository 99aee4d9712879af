"""Connect to a Ray cluster, and name the remedy if it cannot be reached or used."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xlagraph.ingest.errors import ClusterUnreachable, ExtraMissing
from xlagraph.ingest.files.addresses import without_secrets

__all__ = ["connected_ray", "translated_errors"]


def connected_ray(cluster: str | None, processors: int | None) -> Any:  # noqa: ANN401 - a module
    """Return Ray, connected to a cluster; see `export_on_ray` for the arguments.

    Raises `ExtraMissing` and `ClusterUnreachable`.
    """
    try:
        import ray
    except ImportError:
        raise ExtraMissing("--on ray needs Ray: pip install 'xlagraph[ray]'") from None
    if not ray.is_initialized():
        address = cluster or os.environ.get("RAY_ADDRESS")
        local: dict[str, Any] = (
            {} if address else {"num_cpus": processors, "include_dashboard": False}
        )
        try:
            # without an address, ray.init joins a cluster that others started on this machine
            ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **local)
        except Exception as error:
            raise ClusterUnreachable(_connection_message(address, error)) from error
    return ray


def _connection_message(address: str | None, error: Exception) -> str:
    reason = _first_line(error)
    if address is None:
        return (
            f"Ray cannot be started on this machine: {reason}; name a running cluster with"
            " --on ray://HOST:PORT or RAY_ADDRESS, or export without --on"
        )
    return (
        f"the Ray cluster at {without_secrets(address)} cannot be reached: {reason}; check that"
        " its head is running and that --on or RAY_ADDRESS names it, and set RAY_AUTH_MODE=token"
        " and RAY_AUTH_TOKEN if the cluster asks for a token"
    )


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise `ClusterUnreachable` if the cluster is lost, or if its workers lack a package.

    Exceptions of a task that have another cause pass unchanged.
    """
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        if not isinstance(error.cause, ImportError):
            raise
        reason = _first_line(error.cause)
        raise ClusterUnreachable(
            f"the workers of the Ray cluster cannot run xlagraph: {reason}; install the same"
            " version, with the same extras, on each machine"
        ) from error
    except (RayError, ConnectionError) as error:
        raise ClusterUnreachable(
            f"the Ray cluster stopped during the export: {_first_line(error)}; the output has no"
            " export.json: empty it, and export again"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = without_secrets(str(error)).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".;: ")
