"""The rows of the small dump, made once."""

import pytest

from tests.ingest.rows.small_dump import DUMP, MODULE_TEXT, rows_of
from xlagraph.graph import CompilationRows


@pytest.fixture(scope="module")
def rows() -> CompilationRows:
    return rows_of(DUMP, MODULE_TEXT, tags=("commit=abc",))
