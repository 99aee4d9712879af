"""A process that loads made compilations into a graph, to be killed or run beside others.

    loader.py LOCATION RUN FIRST LAST VALUES

It prints `loading` when its load has begun, and `done` after it.
"""

import sys

from made_rows import made_rows

from xlagraph.graph import open_graph

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
