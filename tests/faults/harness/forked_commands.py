"""Runs `xlagraph` as separate processes without starting Python for each.

A server imports everything once and forks for each command. It has a single thread, so the
fork is a clean start; a command can be killed like any other process.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PATIENCE_SECONDS = 180
"""Seconds until a loaded machine shows the expected text."""
LOGIN = ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
"""Variables that the fixture of a server sets for its test."""


class Ended(NamedTuple):
    """End of a command: its exit code, or minus the signal that killed it."""

    code: int
    out: str
    err: str


@dataclass
class Running:
    """A running command."""

    pid: int
    server: "subprocess.Popen[str]"
    out: Path
    err: Path

    def signal(self, number: int) -> None:
        """Send a signal; a command that has ended stays until `wait`."""
        os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return True if it has ended, without waiting."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

    def wait_until(self, happens: Callable[[], bool]) -> None:
        """Wait until a condition is true; fail if the command ends before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            has_ended = self.has_ended()  # before the check: its last act counts
            if happens():
                return
            if has_ended:
                raise AssertionError(f"it has ended: {self.wait()}")
            if time.monotonic() > deadline:
                self.signal(signal.SIGKILL)
                raise AssertionError(f"nothing was observed: {self.wait()}")
            time.sleep(0.01)

    def wait_for_text(self, text: str) -> None:
        """Wait until it has written a text to stderr."""
        self.wait_until(lambda: text in self.err.read_text())

    def wait(self) -> Ended:
        """Wait for its end."""
        code = int(_ask(self.server, {"wait": self.pid}))
        return Ended(code, self.out.read_text(), self.err.read_text())


class Commands:
    """A server that starts any number of commands."""

    def __init__(self, server: "subprocess.Popen[str]", folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._count = 0

    def start(
        self,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        file_size_limit: int | None = None,
    ) -> Running:
        """Start `xlagraph ARGUMENTS`; only these variables and the test's login name a graph.

        ``file_size_limit`` is in bytes.
        """
        self._count += 1
        out, err = (self._folder / f"{self._count}.{name}" for name in ("out", "err"))
        for written in (out, err):
            written.touch()
        request = {
            "arguments": [str(argument) for argument in arguments],
            "environment": {name: os.environ[name] for name in LOGIN if name in os.environ}
            | dict(environment or {}),
            "file_size_limit": file_size_limit,
            "out": str(out),
            "err": str(err),
        }
        return Running(int(_ask(self._server, request)), self._server, out, err)

    def run(
        self,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        file_size_limit: int | None = None,
    ) -> Ended:
        """Run a command to its end."""
        return self.start(
            *arguments, environment=environment, file_size_limit=file_size_limit
        ).wait()


def _ask(server: "subprocess.Popen[str]", request: Mapping[str, object]) -> str:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    return server.stdout.readline()


@contextmanager
def command_server(folder: Path) -> Iterator[Commands]:
    """Start the server; ``folder`` takes what commands write."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEO4J_", "XLAGRAPH_"))
    }
    server = subprocess.Popen(
        [sys.executable, str(HERE / "forked_commands.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )
    try:
        yield Commands(server, folder)
    finally:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.close()
        server.wait()
        server.stdout.close()


def _serve() -> None:
    from xlagraph.cli import main

    import_commands()
    # readline, not iteration: the children would share a read-ahead buffer
    while line := sys.stdin.readline():
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if answer == 0:
                code = 1
                try:
                    _become(request)
                    code = main()
                except KeyboardInterrupt:  # before the command began
                    sys.stderr.write("interrupted\n")
                    code = 130
                finally:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(code)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def import_commands() -> None:
    """Import the modules of all commands, which takes longer than most of their work."""
    from xlagraph import advice, cli, comparison, exports, graph, ingest, planner, queries, report

    import_module("pyarrow.parquet")
    for package in (advice, cli, comparison, exports, graph, ingest, planner, queries, report):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def _become(request: dict[str, Any]) -> None:
    sys.argv = ["xlagraph", *request["arguments"]]
    os.environ.update(request["environment"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for name, descriptor in (("out", 1), ("err", 2)):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, descriptor)
    if limit := request["file_size_limit"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


if __name__ == "__main__":
    _serve()
