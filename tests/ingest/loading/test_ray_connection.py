"""A Ray cluster that cannot be reached or started is an error, not a defect."""

import sys
from types import SimpleNamespace

import pytest

from xlagraph.cli.output.exit_codes import ExitCode, exit_code_of
from xlagraph.ingest.errors import ClusterUnreachable
from xlagraph.ingest.loading.ray_export import export_on_ray
from xlagraph.ingest.options import IngestOptions


@pytest.fixture
def refused(monkeypatch):
    """Let connecting to Ray fail with an error; return the error of the export."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def export(folder, failure, cluster=None):
        def init(*_, **__):
            raise failure

        ray = SimpleNamespace(is_initialized=lambda: False, init=init)
        monkeypatch.setitem(sys.modules, "ray", ray)
        with pytest.raises(ClusterUnreachable) as caught:
            export_on_ray(str(folder / "bulk"), [str(folder)], IngestOptions(), cluster=cluster)
        assert exit_code_of(caught.value) is ExitCode.FAILED
        return str(caught.value)

    return export


def test_an_unreachable_cluster_names_the_address_and_the_remedy(tmp_path, refused):
    failure = ConnectionError("ray client connection timeout")
    message = refused(tmp_path, failure, "ray://head:10001")
    assert message == (
        "the Ray cluster at ray://head:10001 cannot be reached: ray client connection timeout;"
        " check that its head is running and that --on or RAY_ADDRESS names it, and set"
        " RAY_AUTH_MODE=token and RAY_AUTH_TOKEN if the cluster asks for a token"
    )


def test_the_cluster_of_the_environment_is_named(tmp_path, refused, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    message = refused(tmp_path, RuntimeError("\nfirst line.\nsecond line"))
    assert message.startswith("the Ray cluster at 10.0.0.1:6379 cannot be reached: first line;")


def test_a_cluster_that_does_not_start_on_this_machine_names_the_others(tmp_path, refused):
    message = refused(tmp_path, RuntimeError(""))
    assert message == (
        "Ray cannot be started on this machine: RuntimeError; name a running cluster with"
        " --on ray://HOST:PORT or RAY_ADDRESS, or export without --on"
    )
