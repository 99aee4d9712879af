"""Measure xlagraph against references in the same run, and judge.

    python -m benchmarks.run                 minutes, small sizes
    python -m benchmarks.run --full          a million values, 140 MB files
    python -m benchmarks.run --only parse    one section

Prints one table; exit code 1 if a goal is missed by more than is known, or a section breaks.
"""

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.known_misses import mark_known_miss
from benchmarks.measure import machine
from benchmarks.sections import (
    cli,
    corpus,
    embedded,
    fleet,
    growth,
    memory,
    neo4j,
    orders,
    parse,
    queries,
    waits,
)
from benchmarks.settings import Settings
from benchmarks.table import HEADER, Row, Verdict, broken_row, failed, format_row, write_json

Sections = Mapping[str, Callable[[Settings], Iterator[Row]]]
SECTIONS: Sections = {
    "cli": cli.rows,
    "parse": parse.rows,
    "corpus": corpus.rows,
    "embedded": embedded.rows,
    "memory": memory.rows,
    "neo4j": neo4j.rows,
    "queries": queries.rows,
    "orders": orders.rows,
    "waits": waits.rows,
    "fleet": fleet.rows,
    "growth": growth.rows,
}


def measure_sections(settings: Settings, sections: Sections) -> Iterator[Row]:
    """Yield the rows of sections as they are measured; a broken section stops no other."""
    for section, rows in sections.items():
        try:
            yield from rows(settings)
        except Exception as error:  # noqa: BLE001  the table has the message, stderr the traceback
            traceback.print_exc()
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            yield broken_row(f"section {section}", reason)


def main(arguments: Sequence[str] | None = None, sections: Sections = SECTIONS) -> int:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the stated goals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the table")
    parser.add_argument("--only", action="append", choices=list(sections), metavar="SECTION")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    parser.add_argument(
        "--against", type=Path, metavar="XLAGRAPH", help="command of another checkout, for `waits`"
    )
    parser.add_argument("--work", type=Path, help="where inputs are written and kept")
    options = parser.parse_args(arguments)

    shared = Path(__file__).resolve().parents[2] / "shared" / "dumps"
    work = options.work or Path(tempfile.mkdtemp(prefix="xlagraph-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    settings = Settings(options.full, work.resolve(), options.repeats, shared, options.against)
    start = time.perf_counter()
    facts = machine()
    for name, value in facts.items():
        print(f"{name}: {value}")
    print(f"\n{HEADER}", flush=True)
    rows = []
    try:
        chosen = {name: sections[name] for name in options.only or sections}
        for row in map(mark_known_miss, measure_sections(settings, chosen)):
            rows.append(row)
            print(format_row(row), flush=True)
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
    count = Counter(row.verdict for row in rows)
    bad = ", ".join(
        f"{count[it]} {it.lower()}" for it in (Verdict.KNOWN, Verdict.MISSED, Verdict.BROKEN)
    )
    print(f"\n{len(rows)} rows in {time.perf_counter() - start:.0f} s: {bad}")
    if options.json:
        write_json(options.json, facts, rows)
    return 1 if failed(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
