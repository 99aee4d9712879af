"""Protobuf dumps are found by name and content, given as a file or in a folder."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ingest.carriers.proto.small_protos import hlo
from tests.ingest.one_value_dumps import dump_text
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.ingest.files.discovery import find_dumps
from xlagraph.ingest.files.dump_files import FoundDumps

STAGE = "module_0008.jit_f.cpu_after_optimizations"
CONTENT = hlo("main:\n  ROOT add = f32[4] constant() <0>\n").SerializeToString()
MODULE_ALONE = hlo("main:\n  ROOT add = f32[4] constant() <0>\n")
MODULE_ALONE.ClearField("buffer_assignment")
WITHOUT_ASSIGNMENT = MODULE_ALONE.SerializeToString()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def sources(found: FoundDumps) -> list[tuple[str, list[str]]]:
    return [(dump.key, [each.carrier for each in dump.sources]) for dump in found.dumps]


def messages(found: FoundDumps) -> list[str]:
    return [f"{Path(problem.file).name}: {problem.message}" for problem in found.problems]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        (f"{STAGE}.hlo.pb", STAGE),
        (f"{STAGE}.hlo.pb.gz", STAGE),
        ("jit_f(8).hlo_proto.pb", "jit_f(8)"),
        ("mine.hlo.pb", "mine"),
    ],
)
def test_a_message_with_an_assignment_is_a_compilation(run: Path, name: str, stem: str):
    content = gzip.compress(CONTENT) if name.endswith(".gz") else CONTENT
    (run / name).write_bytes(content)
    assert sources(find_dumps(run.parent)) == [(f"run/{stem}", ["proto"])]
    assert sources(find_dumps(run / name)) == [(f"run/{stem}", ["proto"])]


def test_the_file_name_of_xprof_has_module_and_number(run: Path):
    (run / "jit_f(8).hlo_proto.pb").write_bytes(CONTENT)
    (dump,) = find_dumps(run).dumps
    assert (dump.name.module_id, dump.name.module, dump.name.platform) == (8, "jit_f", None)


def test_other_stages_are_skipped_in_a_folder_and_reported_if_given(run: Path):
    early = run / "module_0008.jit_f.before_optimizations.hlo.pb"
    early.write_bytes(WITHOUT_ASSIGNMENT)
    (run / f"{STAGE}.hlo.pb").write_bytes(CONTENT)
    assert sources(find_dumps(run)) == [(f"run/{STAGE}", ["proto"])]
    assert find_dumps(run).problems == ()
    assert messages(find_dumps(early)) == [
        (
            f"{early.name}: contains a module without a buffer assignment; XLA dumps it only "
            "at the last stage: …after_optimizations.hlo.pb"
        )
    ]


@pytest.mark.parametrize("name", [f"{STAGE}.hlo.pb", "jit_f(8).hlo_proto.pb"])
def test_a_damaged_file_is_skipped_with_a_message_and_the_rest_is_read(run: Path, name: str):
    (run / name).write_bytes(CONTENT[:-3])
    (run / "whole.hlo.pb").write_bytes(CONTENT)
    summary = ingest(None, run, IngestOptions(dry_run=True))
    assert summary.added == ("run/whole",)
    assert [problem.message for problem in summary.problems] == [
        "expected a whole HloProto with UTF-8 names, found bytes that are not one"
    ]


def test_a_damaged_early_stage_does_not_matter(run: Path):
    (run / "module_0008.jit_f.before_optimizations.hlo.pb").write_bytes(CONTENT[:-3])
    assert find_dumps(run) == FoundDumps((), (), frozenset())


def test_the_second_file_of_a_stem_is_reported(run: Path):
    (run / f"{STAGE}.hlo.pb").write_bytes(CONTENT)
    (run / f"{STAGE}.hlo.pb.gz").write_bytes(gzip.compress(CONTENT))
    found = find_dumps(run)
    assert sources(found) == [(f"run/{STAGE}", ["proto"])]
    assert messages(found) == [
        f"{STAGE}.hlo.pb.gz: another file of the same stem is read instead: {STAGE}.hlo.pb"
    ]


def test_text_and_protobuf_are_one_compilation_for_either_file(run: Path):
    text, proto = run / f"{STAGE}-buffer-assignment.txt", run / f"{STAGE}.hlo.pb"
    text.write_text(dump_text())
    proto.write_bytes(CONTENT)
    for path in (run, text, proto):
        assert sources(find_dumps(path)) == [(f"run/{STAGE}", ["text", "proto"])]


def test_without_protobuf_the_message_says_how_to_install_it(run: Path):
    (run / f"{STAGE}-buffer-assignment.txt").write_text(dump_text())
    for name in (f"{STAGE}.hlo.pb", "a.hlo.pb", "b.hlo.pb"):
        (run / name).write_bytes(CONTENT)
    needed = f"{run}: has 2 compilations (proto) that need: pip install 'xlagraph[proto]'"
    program = (
        "import sys; sys.modules['google.protobuf'] = None\n"
        "from xlagraph.ingest.files.discovery import find_dumps\n"
        "from pathlib import Path\n"
        "for path in sys.argv[1:]:\n"
        "    found = find_dumps(Path(path))\n"
        "    print(*[dump.key for dump in found.dumps], *found.problems, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, run, run / "a.hlo.pb"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"run/{STAGE}", needed, needed]
