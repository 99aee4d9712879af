"""A process that loads made compilations into a graph, to be killed or run beside others.

    python -m tests.graph.loader LOCATION RUN FIRST LAST VALUES

It prints `loading` when its load has begun, and `done` after it.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.graph.made_rows import made_rows
from xlagraph.graph import open_graph

TREE = Path(__file__).resolve().parents[2]


def start_loader(location: str | Path, *arguments: str | int) -> "subprocess.Popen[str]":
    """Start the process; its output is read through pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.graph.loader", location, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(TREE)},
    )


if __name__ == "__main__":
    location, run, first, last, values = sys.argv[1:]
    with open_graph(location, create=True) as graph:
        with graph.load() as load:
            sys.stdout.write("loading\n")
            sys.stdout.flush()
            for number in range(int(first), int(last)):
                load.write(
                    made_rows(
                        run,
                        f"module_{number:04}",
                        values=int(values),
                        op=f"op/{number % 3}/x",
                        sha256=f"{number} {values}",
                    )
                )
        sys.stdout.write("done\n")
