"""`xlagraph bisect`: find a package's version with which a program needs more memory."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import ask_password, open_graph_of
from xlagraph.cli.output.limits import GrowthLimit, parse_growth_limit
from xlagraph.cli.output.messages import note, problem
from xlagraph.cli.output.shared_options import RowOptions, parse_path
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.recording.bisection import PackageRange, parse_package_range

if TYPE_CHECKING:
    from xlagraph.recording import Bisection, Installer

_STDERR: Final = 2
_INTERRUPTED: Final = frozenset({129, 130, 143})
"""Exit codes of a program ended by SIGHUP, SIGINT or SIGTERM: the user wants to stop."""


def _parse_range(text: str) -> PackageRange:
    try:
        return parse_package_range(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


class Recording(NamedTuple):
    """The run of a version, and the bytes that all its compilations reserve."""

    run: str
    reserved_bytes: int


@dataclass(frozen=True)
class BisectOptions(RowOptions):
    """Options of the command."""

    max_growth: GrowthLimit | None = option(
        "Allowed growth of reserved bytes over the first version. (default: 1%)",
        metavar="5%|64MiB",
        parser=parse_growth_limit,
    )
    limit: int | None = option(
        "Rows in each part of the comparison; 0 shows all. (default: 5)", least=0
    )
    extra: list[str] | None = option(
        "Also install this package; repeatable.", "--with", metavar="PACKAGE"
    )
    requirements: list[Path] | None = option(
        "Also install the packages in a requirements file; repeatable.",
        "-r",
        metavar="FILE",
        parser=parse_path,
    )
    python: str | None = option(
        "Python for the environments. (default: the one that runs xlagraph)",
        metavar="PATH|VERSION",
    )


def bisect(
    options: BisectOptions,
    package: Annotated[
        PackageRange,
        typer.Option(
            metavar="NAME==FIRST..LAST",
            help="The package and a range of its released versions.",
            parser=_parse_range,
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The program and its arguments."),
    ] = None,
) -> None:
    """Find the package version that made a program reserve more.

    Each version is installed into a separate environment, which is kept in the user's cache
    folder. The program is recorded there as by `record`, and becomes a run in the graph, such as
    train-jax-0.6.2. Versions that fail are skipped. If a version is bad, the command shows what
    grew and exits with 4.

    Example: xlagraph bisect --package jax==0.6.2..0.10.2 --max-growth 5% -- python train.py
    """
    from xlagraph.comparison.compared_sides import Growth
    from xlagraph.recording import bisect_versions, dump_folder_in_flags, find_installer

    if not command:
        raise UsageError("expected a program, as in `bisect … -- python train.py`; found none")
    if (folder := dump_folder_in_flags(os.environ)) is not None:
        raise UsageError(
            f"XLA_FLAGS dumps to {folder}: remove that flag, each version has a folder"
        )
    limit = options.max_growth or GrowthLimit("1%", None, 0.01)
    installer = find_installer(options.python)
    versions = package.versions(installer.released_versions(package.name))
    note(f"{package.name}: {len(versions)} versions from {package.first} to {package.last}")
    recorder = _Recorder(options, package, command, installer)
    found = bisect_versions(
        versions,
        recorder.record,
        lambda first, other: limit.exceeded_by(Growth(first.reserved_bytes, other.reserved_bytes)),
    )
    if found is None:
        problem("fewer than two versions could be measured: there is nothing to compare")
        raise typer.Exit(ExitCode.FAILED)
    _write_growth(found, options.limit, options)
    verdict = _verdict_line(found, package.name, limit)
    if found.bad is not None:
        problem(verdict)
        raise typer.Exit(ExitCode.GATE)
    note(verdict)


def _write_growth(found: "Bisection[Recording]", limit: int | None, options: RowOptions) -> None:
    """Write the comparison of the good and bad version; of both ends if none is bad."""
    from xlagraph.cli.summaries.comparison import write_comparisons
    from xlagraph.queries import compare

    before, after = (found.good, found.bad) if found.bad else (found.first, found.good)
    with open_graph_of(options) as graph:
        comparison = compare(graph, before[1].run, after[1].run)
    write_comparisons([comparison], None, limit, None, options)


def _verdict_line(found: "Bisection[Recording]", package: str, limit: GrowthLimit) -> str:
    """Return one line with the first bad version, or that there is none."""
    version, last = found.bad or found.good
    sizes = (
        f"{human_bytes(last.reserved_bytes)} reserved,"
        f" {human_bytes(found.first[1].reserved_bytes)} with {found.first[0]}"
    )
    if found.bad is None:
        return f"{package} {version}: {sizes}; no more than {limit.text} of growth"
    skipped = f" (or, skipped: {', '.join(found.unknown)})" if found.unknown else ""
    return (
        f"{package} {version} is the first bad version{skipped}: {sizes};"
        f" more than {limit.text} is not allowed"
    )


class _NotRecorded(Exception):
    """Raised if the program produces no dumps to compare; the message says why."""


@dataclass(frozen=True, slots=True)
class _Recorder:
    """Records a program with versions of a package, each as a run in the graph."""

    options: BisectOptions
    package: PackageRange
    command: Sequence[str]
    installer: "Installer"

    def record(self, version: str) -> Recording | None:
        """Return the recording of a version; print why and return None if it fails."""
        from xlagraph.ingest import NotInstallable

        package = self.package.name
        try:
            recording = self._record(version)
        except NotInstallable as error:
            problem(f"{package} {version} skipped: it cannot be installed: {error}")
        except _NotRecorded as error:
            problem(f"{package} {version} skipped: {error}")
        else:
            note(f"{package} {version}: {human_bytes(recording.reserved_bytes)} reserved")
            return recording
        return None

    def _record(self, version: str) -> Recording:
        wanted = [self.package.requirement(version), *(self.options.extra or ())]
        environment = self.installer.install(wanted, self.options.requirements or ())
        with TemporaryDirectory(prefix="xlagraph-bisect-") as folder:
            self._run_program(environment, Path(folder))
            return self._load(Path(folder), version)

    def _run_program(self, environment: Path, dumps: Path) -> None:
        from xlagraph.recording import dump_variables, environment_variables, run_program

        variables = environment_variables(environment, os.environ)
        if shutil.which(self.command[0], path=variables["PATH"]) is None:
            raise UsageError(f"expected a program, found '{self.command[0]}', which does not exist")
        variables |= dump_variables(dumps, os.environ)
        code = run_program(self.command, variables, stdout=_STDERR)
        if code in _INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise _NotRecorded(f"the program ended with exit code {code}")

    def _load(self, dumps: Path, version: str) -> Recording:
        from xlagraph.graph import open_graph
        from xlagraph.ingest import IngestOptions, ingest
        from xlagraph.queries import compare

        script = next((word for word in self.command if word.endswith(".py")), self.command[0])
        run = f"{Path(script).name.removesuffix('.py')}-{self.package.name}-{version}"
        tags = [f"package={self.package.requirement(version)}"]
        chosen = IngestOptions(run=run, tags=tags, replace=True)
        with open_graph(self.options.graph, create=True, ask_password=ask_password) as graph:
            summary = ingest(graph, dumps, chosen)
            if not summary.ok:
                reasons = [str(found) for found in summary.problems] or ["it compiled nothing"]
                raise _NotRecorded(f"no plan to compare: {reasons[0]}")
            reserved_bytes = compare(graph, run, run, by=()).reserved.bytes_b
        return Recording(run, reserved_bytes or 0)
