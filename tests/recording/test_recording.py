"""A program is run so that XLA writes dumps of its compilations."""

import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.tiny_dumps import dump, write_dump
from xlagraph.ingest import FlagsUnusable
from xlagraph.recording import (
    OverwrittenDumps,
    dump_folder_in_flags,
    dump_variables,
    new_dump_folder,
    process_variables,
    recording_name,
    remove_unread_files,
    run_program,
)

DUMPS = Path("/dumps")


def flags(present: str) -> str:
    return dump_variables(DUMPS, {"XLA_FLAGS": present})["XLA_FLAGS"]


def test_flags_are_added_to_the_existing_ones():
    added = "--xla_dump_to=/dumps --xla_dump_hlo_as_text"
    assert dump_variables(DUMPS, {})["XLA_FLAGS"] == added
    assert flags("--xla_cpu_enable_fast_math=true") == f"--xla_cpu_enable_fast_math=true {added}"


def test_existing_flags_are_neither_repeated_nor_replaced():
    for present in (
        "--xla_dump_to=/mine --xla_dump_hlo_as_text",
        "--xla_dump_hlo_as_text=false --xla_dump_to=/mine",
    ):
        assert flags(present) == present
    assert flags("--xla_dump_to=/mine") == "--xla_dump_to=/mine --xla_dump_hlo_as_text"
    # another flag with the same prefix
    assert "--xla_dump_to=/dumps" in flags("--xla_dump_to_elsewhere=/mine")


def test_a_folder_with_a_space_is_quoted_so_that_it_reads_back():
    for name in ("/my dumps", '/a "b" c', "/it's", "/back\\slash"):
        variables = dump_variables(Path(name), {})
        assert dump_folder_in_flags(variables) == Path(name)


def test_the_last_folder_in_the_flags_is_used_as_in_xla():
    assert dump_folder_in_flags({}) is None
    assert dump_folder_in_flags({"XLA_FLAGS": "--xla_dump_hlo_as_text"}) is None
    two = "--xla_dump_to=/one --xla_dump_to=/two"
    assert dump_folder_in_flags({"XLA_FLAGS": two}) == Path("/two")
    assert dump_folder_in_flags({"XLA_FLAGS": "--xla_dump_to=here"}) == Path("here").absolute()


@pytest.mark.parametrize(
    ("present", "message"),
    [
        ("--xla_dump_to=-", "expected a folder in --xla_dump_to of XLA_FLAGS, found '-'"),
        ("--xla_dump_to=", "expected a folder in --xla_dump_to of XLA_FLAGS, found ''"),
        ("flags.txt", "the name of a file, 'flags.txt'"),
        ("--xla_dump_to='/a", "XLA_FLAGS cannot be read: No closing quotation"),
    ],
)
def test_flags_that_prevent_dumps_are_refused(present, message):
    with pytest.raises(FlagsUnusable, match=message):
        dump_folder_in_flags({"XLA_FLAGS": present})


def test_the_compilation_cache_is_off_and_source_lines_are_on():
    assert dump_variables(DUMPS, {"JAX_ENABLE_COMPILATION_CACHE": "true", "XLA_IR_DEBUG": "0"}) == {
        "XLA_FLAGS": "--xla_dump_to=/dumps --xla_dump_hlo_as_text",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
        "XLA_HLO_DEBUG": "1",
    }


def test_dumps_are_written_only_into_a_new_or_empty_folder(tmp_path):
    folder = tmp_path / "runs" / "baseline"
    assert new_dump_folder(folder).is_dir()
    assert new_dump_folder(folder) == folder
    write_dump(folder, 1, "jit_f", dump(256))
    with pytest.raises(FileExistsError, match="expected a new or empty folder, found files in"):
        new_dump_folder(folder)


def test_a_recording_is_named_after_the_script_or_program_and_its_start():
    started = datetime(2026, 3, 1, 9, 5, 7, tzinfo=UTC)
    assert recording_name(["python", "src/train.py", "other.py"], started) == (
        "train-20260301-090507"
    )
    assert recording_name(["/usr/bin/trainer", "-v"], started) == "trainer-20260301-090507"


def test_files_that_no_ingest_reads_are_removed_with_their_folders(tmp_path):
    write_dump(tmp_path, 1, "jit_f", dump(256))
    read = set(tmp_path.iterdir())
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text("HloModule jit_f\n")
    objects = tmp_path / "module_0001.jit_f"
    objects.mkdir()
    (objects / "module_0001.jit_f.obj-file.o").write_bytes(b"ELF")
    remove_unread_files(tmp_path)
    assert set(tmp_path.iterdir()) == read


def test_nothing_is_removed_without_dumps_or_after_a_fault(tmp_path):
    (tmp_path / "module_0001.jit_f.ir-no-opt.ll").write_text("; llvm\n")
    remove_unread_files(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    write_dump(tmp_path, 1, "jit_f", dump(256))
    damaged = tmp_path / "module_0002.jit_g.cpu_after_optimizations-buffer-assignment.txt"
    damaged.symlink_to(tmp_path / "nowhere")
    before = set(tmp_path.iterdir())
    remove_unread_files(tmp_path)
    assert set(tmp_path.iterdir()) == before


def test_dumps_that_another_process_overwrites_are_noticed(tmp_path):
    path = tmp_path / "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"
    watched = OverwrittenDumps(tmp_path, started=10)
    for seconds, names in ((5, set()), (20, set()), (21, set()), (21, set()), (30, {path.name})):
        path.touch()  # it is older than the recording, then written, complete, and overwritten
        os.utime(path, (seconds, seconds))
        watched.look()
        assert watched.names == names


def run_python(text: str) -> int:
    return run_program([sys.executable, "-c", text], {"ADDED": "yes"})


def test_a_program_runs_with_the_variables_and_its_exit_code_is_returned():
    assert run_python("import os; raise SystemExit(7 if os.environ['ADDED'] == 'yes' else 1)") == 7
    assert run_python("") == 0


def test_a_program_ended_by_a_signal_has_the_exit_code_of_a_shell():
    assert run_python("import os; os.kill(os.getpid(), 9)") == 137


def test_signal_handlers_are_restored_after_the_program_ends():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    run_python("")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        run_program([str(tmp_path / "nothing")], {})


def test_processes_are_told_to_compile_in_the_order_that_saves_memory() -> None:
    assert "XLAGRAPH_SCHEDULE" not in process_variables(DUMPS, {})
    assert process_variables(DUMPS, {}, saves_memory=True)["XLAGRAPH_SCHEDULE"] == "memory"
