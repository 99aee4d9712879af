"""Compile programs of real libraries with planted mistakes, and judge the answers about them.

    python -m benchmarks.accuracy                       all programs; prints the tables
    python -m benchmarks.accuracy --only haiku_lstm     one program
    python -m benchmarks.accuracy --write-page          writes the tables into docs/accuracy.md

The libraries are installed into an environment in the folder of the work, which is kept with the
dumps: what is there is not compiled again. Every mistake is a variant of its program.
"""

import argparse
import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks.accuracy.environment import TREE, compile_variants, python_of, versions
from benchmarks.accuracy.judging import JudgedProgram, JudgedVariant
from benchmarks.accuracy.raw_texts import raw_text
from benchmarks.accuracy.tables import tables, write_page

PROGRAMS = Path(__file__).with_name("programs")


def judged(
    name: str, python: Path, work: Path, topology: str | None, with_answers: bool
) -> list[JudgedVariant]:
    """Compile a program unless it was, judge it, and write the verdicts, or all answers too."""
    source, dumps = PROGRAMS / f"{name}.py", work / "dumps" / name
    compiled = dumps / "source.py"
    if not compiled.exists() or compiled.read_bytes() != source.read_bytes():
        shutil.rmtree(dumps, ignore_errors=True)
        dumps.mkdir(parents=True)
        compile_variants(python, name, dumps, topology)
        shutil.copyfile(source, compiled)
    graph = work / f"{name}.lbug"
    graph.unlink(missing_ok=True)
    program = JudgedProgram(dumps, graph)
    variants = program.variants()
    text = raw_text(program, variants, with_answers)
    (work / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"{name}: {len(variants)} variants", file=sys.stderr, flush=True)
    return variants


def main() -> None:
    """Read the command line, judge, print."""
    known = sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=known, metavar="PROGRAM")
    parser.add_argument("--work", type=Path, help="where environment, dumps and answers are kept")
    parser.add_argument("--python", type=Path, help="use this environment of the libraries")
    parser.add_argument("--topology", help="compile for hardware that is not there, such as h100")
    parser.add_argument("--answers", action="store_true", help="write the answers as shown, too")
    parser.add_argument("--write-page", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args()
    work = options.work or Path(tempfile.gettempdir()) / "xlagraph-accuracy"
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    for variable in [name for name in os.environ if name.startswith(("NEO4J_", "XLAGRAPH_"))]:
        del os.environ[variable]
    python = options.python or python_of(work / "environment")
    judge = partial(
        judged,
        python=python,
        work=work,
        topology=options.topology,
        with_answers=options.answers,
    )
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        found = [each for one in processes.map(judge, options.only or known) for each in one]
    page = tables(found, versions(python), datetime.now(UTC).date())
    print(page)
    if options.write_page:
        write_page(TREE / "docs" / "accuracy.md", page)


if __name__ == "__main__":
    main()
