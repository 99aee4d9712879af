"""An `xlagraph` on the path that starts without importing anything, for scripts of many commands.

A server has imported everything and forks for each command. A small program called `xlagraph`
passes its arguments, folder, environment and standard streams to it, and returns its exit code.
That the installed program starts is tested in `test_packaging`.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

_PROGRAM = """#!{python} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    words = [os.getcwd(), str(len(sys.argv)), *sys.argv]
    words += [f"{{name}}={{value}}" for name, value in os.environ.items()]
    message = os.fsencode("\\0".join(words))
    socket.send_fds(server, [len(message).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(message)
    sys.exit(int(server.recv(8) or b"1"))
"""


@pytest.fixture(scope="session")
def forked_xlagraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with that program, and links to the others of this Python."""
    folder = tmp_path_factory.mktemp("bin")
    for program in Path(sys.executable).parent.iterdir():
        (folder / program.name).symlink_to(program)
    address = folder / "socket"
    (folder / "xlagraph").unlink()
    (folder / "xlagraph").write_text(_PROGRAM.format(python=sys.executable, address=str(address)))
    (folder / "xlagraph").chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.command_fixtures", address],
        # pipes, as for most commands: a stream that was a file cannot become a pipe
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=Path(__file__).parents[1],
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    yield folder
    server.terminate()
    server.communicate()


def _serve(address: str) -> None:
    from tests.faults.harness.forked_commands import import_commands

    import_commands()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _run(connection)


def _run(connection: socket.socket) -> None:
    """Run the command of a connection, and end this process."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        length, streams, _, _ = socket.recv_fds(connection, 4, 3)
        message = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
        folder, count, *words = os.fsdecode(message).split("\0")
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        sys.argv = ["xlagraph", *words[1 : int(count)]]
        os.environ.clear()
        variables = (word.partition("=") for word in words[int(count) :])
        os.environ.update((name, value) for name, _, value in variables)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        from xlagraph.cli import main

        code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(str(code).encode())
        os._exit(code)


def _end_with(connection: socket.socket) -> None:
    """End this command when the program that passes it on has ended, for example by `kill`."""
    connection.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    _serve(sys.argv[1])
