"""The message about a folder without dumps gives the reason, from its other files."""

from pathlib import Path

import pytest

from xlagraph.ingest import NoDumps, why_no_dumps


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], NoDumps.EMPTY),
        (["module_0001.jit_f.before_optimizations.txt"], NoDumps.MODULE_TEXTS),
        (
            ["1795217606140152.module_0001.cpu_after_optimizations.txt.gz"],
            NoDumps.MODULE_TEXTS,
        ),
        (["module_0001.jit_f.cpu_after_optimizations.hlo.pb"], NoDumps.PROTOS),
        ([f"jit_f-{'0f' * 32}-cache", f"jit_f-{'0f' * 32}-atime"], NoDumps.COMPILATION_CACHE),
        ([f"jit_f-{'0f' * 32}"], NoDumps.COMPILATION_CACHE),
        ([f"jit_f-{'0f' * 32}-cache", "notes.md"], NoDumps.OTHER_FILES),
        (["notes.md", "train.py"], NoDumps.OTHER_FILES),
    ],
)
def test_the_files_in_a_folder_explain_why_it_has_no_dump(
    tmp_path: Path, names: list[str], reason: NoDumps
):
    for name in names:
        (tmp_path / "job").mkdir(exist_ok=True)
        (tmp_path / "job" / name).touch()
    assert why_no_dumps([tmp_path]) is reason
