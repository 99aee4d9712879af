"""Dumps are prepared together or separately, in processes that may die."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

from xlagraph.graph import CompilationRows
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.loading.job import PreparationJob
from xlagraph.ingest.loading.worker_pool import prepare_all


def test_dumps_of_the_same_content_have_the_rows_that_each_has_separately(corpus, tmp_path):
    jobs = [PreparationJob(dump, "", ()) for dump in find_dumps(corpus / "runs").dumps]
    together, alone = (
        [
            prepared.files.read()
            for prepared in prepare_all(jobs, 1, tmp_path, one_by_one=one_by_one)
            if prepared.files is not None
        ]
        for one_by_one in (False, True)
    )
    rows = CompilationRows.joined(together)
    assert len(together) < len(alone) == len(jobs)
    assert len({origin.sha256 for origin in rows.origins.values()}) < len(jobs)
    assert list(rows.origins) == [job.files.key for job in jobs]
    assert rows == CompilationRows.joined(alone)
    assert cells_of(rows.of([jobs[-1].files.key])) == cells_of(alone[-1])


def cells_of(rows: CompilationRows) -> dict[str, list[str]]:
    return {name: sorted(map(repr, table.to_pylist())) for name, table in rows.tables.items()}


def test_a_process_that_dies_skips_only_its_file(runs, write, tmp_path):
    for number in range(4):
        write("baseline", number)
    jobs = [PreparationJob(dump, "", ()) for dump in find_dumps(runs).dumps]
    deadly: Any = _Deadly()
    poisoned = jobs[1]._replace(files=deadly)
    batches = list(prepare_all([jobs[0], poisoned, *jobs[2:]], 2, tmp_path))
    outcomes = [outcome for prepared in batches for outcome in prepared.outcomes]
    assert [outcome.has_rows for outcome in outcomes] == [True, False, True, True]
    assert sum(len(prepared.files.origins) for prepared in batches if prepared.files) == 3
    assert "died" in outcomes[1].problems[0].message


class _Deadly:
    """A pickle that ends the process that loads it."""

    size_bytes = 0
    path = Path("deadly.txt")

    def __reduce__(self):
        return os._exit, (9,)


def test_preparing_does_not_import_numpy(runs, write, tmp_path):
    write("baseline", 1)
    jobs = [PreparationJob(dump, "", ()) for dump in find_dumps(runs).dumps]
    listing = tmp_path / "modules.txt"
    spy: Any = _Spy(listing)
    jobs.append(PreparationJob(spy, "", ()))
    with closing(prepare_all(jobs, 2, None, one_by_one=True)) as batches:
        assert [prepared.outcomes[0].has_rows for prepared in batches] == [True, False]
    modules = listing.read_text().split()
    assert "pyarrow" in modules
    assert "numpy" not in modules


class _Spy:
    """A pickle that writes the module list of the process that loads it and then ends it."""

    size_bytes = 0
    path = Path("spy.txt")

    def __init__(self, listing: Path) -> None:
        self.listing = listing

    def __reduce__(self):
        text = f"open({str(self.listing)!r}, 'w').write(' '.join(__import__('sys').modules))"
        return eval, (text,)
