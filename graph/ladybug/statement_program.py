"""The process that runs one statement of a user on a graph file; see `statement_process`."""

import pickle
import resource
import signal
import sys

from xlagraph.graph.engine import Result
from xlagraph.graph.errors import GraphError
from xlagraph.graph.ladybug.engine import LadybugGraph


def main() -> None:
    """Run the statement on standard input, and write its result or error."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the calling process reports Ctrl-C
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    path, text, parameters = pickle.load(sys.stdin.buffer)  # noqa: S301  from the caller
    found: Result | GraphError
    try:
        with LadybugGraph(path, create=False, wait=False, notify=lambda _: None) as graph:
            found = graph.query(text, parameters)
    except GraphError as error:
        found = error
    sys.stdout.buffer.write(pickle.dumps(found))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
