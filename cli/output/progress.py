"""The progress bar of an ingest, by bytes; only on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.messages import Verbosity, verbosity

if TYPE_CHECKING:
    from xlagraph.ingest import Progress as IngestProgress


@contextmanager
def progress_bar() -> Iterator["Callable[[IngestProgress], None] | None"]:
    """Yield what shows how far an ingest is; None off a terminal."""
    if not sys.stderr.isatty() or verbosity() < Verbosity.NORMAL:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)  # what else there is stays whole
    bar = Progress(
        BarColumn(bar_width=20),
        DownloadColumn(binary_units=True),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False, table_column=cut),
        expand=True,
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)

        def show(progress: "IngestProgress") -> None:
            bar.update(
                task,
                total=progress.bytes_total,
                completed=progress.bytes_done,
                description=escape_control_characters(Path(progress.file).name),
            )

        yield show
