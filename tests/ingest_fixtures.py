"""A folder of runs to ingest, and a function that writes dumps of one value."""

from pathlib import Path

import pytest

from tests.ingest.one_value_dumps import Write, dump_text, name


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a dump into a run."""

    def write(run: str, number: int = 1, text: str | None = None) -> Path:
        path = tmp_path / "runs" / run / f"{name(number)}-buffer-assignment.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_text() if text is None else text)
        return path

    return write


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The folder that is ingested."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder
