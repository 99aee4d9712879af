"""Finding dumps: their files, how these are joined, and their names in the graph."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from xlagraph.ingest import FoundDumps, find_dumps
from xlagraph.ingest.carriers.file_names import dump_name

DUMP = "BufferAssignment:\nallocation 0: size 4, constant:\n"
STEM = "module_0001.jit_f.cpu_after_optimizations"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the searched folder, by default a dump's text."""

    def write(name: str, content: str | bytes = DUMP) -> Path:
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """The searched folder."""
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


def keys(found: FoundDumps) -> list[str]:
    return [dump.key for dump in found.dumps]


def problems(found: FoundDumps, given: Path) -> list[tuple[str, str]]:
    return [
        (str(Path(problem.file).relative_to(given)), problem.message.split(":")[0])
        for problem in found.problems
    ]


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("module_0000.after_optimizations", (0, None, None, None)),
        ("1795217606140152.module_0012.after_optimizations", (12, None, None, None)),
        (
            "module_0064.jit_train_step.cpu_after_optimizations",
            (64, *["jit_train_step"] * 2, "cpu"),
        ),
        (
            "module_0003.SyncTensorsGraph.45.sm_8.0_gpu_after_optimizations",
            (3, "SyncTensorsGraph.45", "SyncTensorsGraph", "gpu"),
        ),
        ("module_0001.f.sm_9.0a_gpu_after_optimizations", (1, "f", "f", "gpu")),
        ("module_0001.f.sm_80_gpu_after_optimizations", (1, "f", "f", "gpu")),
        ("module_0001.f.sm_gpu_after_optimizations", (1, "f", "f", "gpu")),
        ("module_0001.f.gpu_after_optimizations", (1, "f", "f", "gpu")),
        ("module_0001.f.gfx942_gpu_after_optimizations", (1, "f", "f", "rocm")),
        ("module_0001.jit_f.cl_829516930.after_optimizations", (1, "jit_f", "jit_f", None)),
        ("module_0001.cl_829516930.after_optimizations", (1, None, None, None)),
        ("module_0001.a.b.71.cpu_after_optimizations", (1, "a.b.71", "a.b", "cpu")),
        (
            "module_0001.jit_after_optimizations.cpu_after_optimizations",
            (1, "jit_after_optimizations", "jit_after_optimizations", "cpu"),
        ),
        (
            "module_0001.x.cpu_after_optimizations.y.gpu_after_optimizations",
            (1, *["x.cpu_after_optimizations.y"] * 2, "gpu"),
        ),
        ("module_0007.jit_f", (7, "jit_f", "jit_f", None)),
        ("000_6f652c95", (None, None, None, None)),
    ],
)
def test_a_stem_contains_number_name_and_platform_of_a_module(stem, expected):
    assert tuple(dump_name(stem)) == expected


def test_a_dump_is_named_after_its_folder_and_its_file(given, write):
    write(f"{STEM}-buffer-assignment.txt")
    (dump,) = find_dumps(given).dumps
    assert (dump.run, dump.stem, dump.key) == ("given", STEM, f"given/{STEM}")
    assert dump.run_path == str(given)


def test_each_folder_with_dumps_is_a_run_named_by_its_relative_path(given, write):
    write(f"runs/baseline/{STEM}-buffer-assignment.txt")
    write(f"runs/donated/{STEM}-buffer-assignment.txt")
    write("notes/readme.txt", "nothing here")
    assert keys(find_dumps(given)) == [f"runs/baseline/{STEM}", f"runs/donated/{STEM}"]


def test_a_folder_with_dumps_and_subfolders_gives_several_runs(given, write):
    write("a.txt")
    write("below/a.txt")
    assert keys(find_dumps(given)) == ["below/a", "given/a"]


def test_the_current_folder_is_named_by_its_real_name(given, write, monkeypatch):
    write("a.txt")
    monkeypatch.chdir(given)
    assert keys(find_dumps(Path())) == ["given/a"]
    assert keys(find_dumps(Path("../given/."))) == ["given/a"]


def test_a_single_run_can_be_named(given, write):
    write("one/a.txt")
    assert keys(find_dumps(given, run="mine")) == ["mine/a"]


def test_a_name_for_several_runs_is_refused(given, write):
    write("one/a.txt")
    write("two/a.txt")
    found = find_dumps(given, run="mine")
    assert found.dumps == ()
    assert [str(problem) for problem in found.problems] == [
        f"{given}: contains 2 runs; a name can be given to a single run only"
    ]


def test_a_file_of_any_name_is_a_dump_if_it_begins_like_one(given, write):
    write("000_seed.txt")
    write("pasted.log")
    write("with_mark.txt", "\ufeff" + DUMP)
    write("with_returns.txt", "\r\n" + DUMP.replace("\n", "\r\n"))
    write("packed.gz", gzip.compress(DUMP.encode()))
    write("similar.txt", "BufferAssignment of my program:\n")
    assert keys(find_dumps(given)) == [
        f"given/{stem}"
        for stem in ("000_seed", "packed", "pasted.log", "with_mark", "with_returns")
    ]


def test_other_files_are_ignored_silently(given, write):
    write("readme.txt", "hello")
    write("empty.txt", "")
    write("image.bin", bytes(range(256)) * 64)
    write("broken.gz", b"\x1f\x8bnonsense")
    write(f"{STEM}-memory-usage-report.txt", "Total bytes used: 4 (4B)\n")
    write("module_0001.jit_f.before_optimizations.txt", "HloModule f\n")
    os.mkfifo(given / "pipe.txt")
    assert find_dumps(given) == FoundDumps((), (), frozenset())


def test_companions_are_joined_by_stem(given, write):
    dump = write(f"{STEM}-buffer-assignment.txt")
    values = write(f"{STEM}-buffer-assignment-values.txt", "\nTotal bytes used: 4\n")
    live_range = write(f"{STEM}-live-range.txt", "HloLiveRange (max 0):\n")
    module_text = write(f"{STEM}.txt", "HloModule jit_f\n")
    write("module_0002.jit_f.cpu_after_optimizations.txt", "HloModule jit_f\n")
    (found,) = find_dumps(given).dumps
    assert tuple(path for _, path, *_ in found.sources[0].parts) == (
        dump,
        values,
        live_range,
        module_text,
    )
    assert found.size_bytes == sum(
        path.stat().st_size for path in (dump, values, live_range, module_text)
    )


def test_a_function_may_be_called_buffer_assignment(given, write):
    stem = "module_0001.jit_x-buffer-assignment.cpu_after_optimizations"
    write(f"{stem}-buffer-assignment.txt")
    write(f"{stem}.txt", "HloModule jit_x-buffer-assignment\n")
    (dump,) = find_dumps(given).dumps
    assert dump.name.module_name == "jit_x-buffer-assignment"
    assert dump.file("module text") == given / f"{stem}.txt"


def test_packed_files_are_read_like_others(given, write):
    write(f"{STEM}-buffer-assignment.txt.gz", gzip.compress(DUMP.encode()))
    values = write(f"{STEM}-buffer-assignment-values.txt.gz", gzip.compress(b"\n"))
    module_text = write(f"{STEM}.txt.gz", gzip.compress(b"HloModule f\n"))
    (dump,) = find_dumps(given).dumps
    assert dump.key == f"given/{STEM}"
    assert (dump.file("values"), dump.file("module text")) == (values, module_text)


def test_a_dump_that_exists_both_packed_and_unpacked_counts_once(given, write):
    plain = write(f"{STEM}-buffer-assignment.txt")
    write(f"{STEM}-buffer-assignment.txt.gz", gzip.compress(DUMP.encode()))
    found = find_dumps(given)
    assert [dump.path for dump in found.dumps] == [plain]
    assert found.problems == ()


def test_another_dump_of_the_same_stem_is_named(given, write):
    write(f"{STEM}-buffer-assignment.txt")
    write(f"{STEM}-buffer-assignment.txt.gz", gzip.compress(DUMP.encode() + b"more"))
    write(f"{STEM}.txt", DUMP.replace("4", "8"))
    found = find_dumps(given)
    assert [dump.path.name for dump in found.dumps] == [f"{STEM}-buffer-assignment.txt"]
    assert problems(found, given) == [
        (f"{STEM}-buffer-assignment.txt.gz", "another file of the same stem is read instead"),
        (f"{STEM}.txt", "another file of the same stem is read instead"),
    ]


def test_companions_without_their_allocation_file_are_named(given, write):
    write(f"{STEM}-buffer-assignment-values.txt")
    write(f"{STEM}-live-range.txt")
    message = f"its allocation file {STEM}-buffer-assignment.txt is not found"
    assert problems(find_dumps(given), given) == [
        (f"{STEM}-buffer-assignment-values.txt", message),
        (f"{STEM}-live-range.txt", message),
    ]


def test_a_module_text_is_found_under_another_timestamp(given, write):
    write("module_0000.after_optimizations-buffer-assignment.txt")
    write("1795217606000000.module_0000.after_optimizations.txt", "HloModule old\n")
    newest = write("1795217606447017.module_0000.after_optimizations.txt", "HloModule new\n")
    (dump,) = find_dumps(given).dumps
    assert dump.file("module text") == newest


def test_module_texts_belong_to_the_dumps_nearest_in_time(given, write):
    for moment in (1000000000, 2000000000, 3000000000):
        write(f"{moment}.module_0000.after_optimizations-buffer-assignment.txt")
    own = write("2000000000.module_0000.after_optimizations.txt", "HloModule b\n")
    near = write("1000000700.module_0000.after_optimizations.txt", "HloModule a\n")
    assert [dump.file("module text") for dump in find_dumps(given).dumps] == [near, own, None]


def test_folders_that_xla_makes_belong_to_the_run_above(given, write):
    write(f"baseline/jit_f/vm_14032/{STEM}-buffer-assignment.txt")
    write("baseline/g/vm_1/module_0002.g.7.cpu_after_optimizations-buffer-assignment.txt")
    assert keys(find_dumps(given)) == [
        f"baseline/{STEM}",
        "baseline/module_0002.g.7.cpu_after_optimizations",
    ]
    assert {dump.run_path for dump in find_dumps(given).dumps} == {str(given / "baseline")}


def test_folders_that_only_look_like_those_of_xla_are_runs(given, write):
    write(f"other/vm_14032/{STEM}-buffer-assignment.txt")
    write(f"jit_f/host/{STEM}-buffer-assignment.txt")
    assert keys(find_dumps(given)) == [f"jit_f/host/{STEM}", f"other/vm_14032/{STEM}"]


def test_equal_stems_in_folders_of_xla_keep_their_path_in_the_key(given, write):
    write(f"jit_f/vm_1/{STEM}-buffer-assignment.txt")
    write(f"jit_f/vm_2/{STEM}-buffer-assignment.txt")
    write("jit_g/vm_1/module_0001.jit_g.cpu_after_optimizations-buffer-assignment.txt")
    assert keys(find_dumps(given)) == [
        f"given/jit_f/vm_1/{STEM}",
        f"given/jit_f/vm_2/{STEM}",
        "given/module_0001.jit_g.cpu_after_optimizations",
    ]


def test_links_to_folders_are_not_followed_below(given, write, tmp_path):
    write("run/a.txt")
    (given / "again").symlink_to(given / "run")
    (given / "circle").symlink_to(given)
    assert keys(find_dumps(given)) == ["run/a"]
    link = tmp_path / "link"
    link.symlink_to(given)
    assert keys(find_dumps(link)) == ["run/a"]


def test_a_file_with_a_link_to_it_counts_once(given, write):
    target = write("run/b.txt")
    (given / "run" / "a.txt").symlink_to(target)
    (given / "run" / "c.txt").symlink_to(target)
    assert keys(find_dumps(given)) == ["run/b"]


def test_a_link_to_a_dump_elsewhere_is_a_dump(given, tmp_path):
    (tmp_path / "elsewhere.txt").write_text(DUMP)
    (given / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    assert keys(find_dumps(given)) == ["given/a"]


def test_a_broken_link_with_the_name_of_a_dump_is_named(given):
    (given / f"{STEM}-buffer-assignment.txt").symlink_to("nowhere")
    (given / "other.txt").symlink_to("nowhere")
    assert problems(find_dumps(given), given) == [
        (f"{STEM}-buffer-assignment.txt", "the target of the link is not a file")
    ]


def test_a_single_file_is_a_run_named_after_its_folder(given, write):
    write("other.txt")
    dump = write(f"{STEM}-buffer-assignment.txt")
    values = write(f"{STEM}-buffer-assignment-values.txt")
    found = find_dumps(dump)
    assert [(dump.key, dump.file("values")) for dump in found.dumps] == [(f"given/{STEM}", values)]
    assert found.searched == frozenset()


def test_a_single_file_that_is_not_a_dump_is_named(given, write):
    notes = write("notes.txt", "hello")
    assert [problem.file for problem in find_dumps(notes).problems] == [str(notes)]


def test_a_folder_that_does_not_exist_is_named(given):
    found = find_dumps(given / "nowhere")
    assert [str(problem) for problem in found.problems] == [
        f"{given / 'nowhere'}: cannot be read: No such file or directory"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_named_and_leaves_its_run_unsearched(given, write):
    write("run/a.txt")
    write("run/closed/b.txt").parent.chmod(0)
    found = find_dumps(given)
    (given / "run" / "closed").chmod(0o700)
    assert keys(found) == ["run/a"]
    assert problems(found, given) == [("run/closed", "cannot be read")]
    assert found.searched == frozenset()


def test_names_that_are_not_utf_8_are_escaped(given):
    Path(os.fsdecode(os.fsencode(given) + b"/caf\xe9.txt")).write_text(DUMP)
    assert keys(find_dumps(given)) == ["given/caf\\xe9"]


def test_all_real_dumps_are_found(real_dumps):
    for folder in real_dumps:
        found = find_dumps(folder)
        named = folder.rglob("*.txt" if folder.name == "seeds" else "*-buffer-assignment.txt")
        assert {dump.path for dump in found.dumps} == set(named)
        assert found.problems == ()
        without = {dump.run for dump in found.dumps if dump.file("module text") is None}
        assert without == ({"seeds"} if folder.name == "seeds" else set())


def test_all_files_of_a_dump_are_found(corpus):
    found = find_dumps(corpus)
    assert all(
        dump.file("values") and dump.file("live range")
        for dump in found.dumps
        if dump.run in ("runs/baseline", "versions/jaxlib-0.10.2")
    )


@pytest.mark.parametrize("ending", [".tar.gz", ".txz", ".tbz2"])
def test_an_archive_in_a_folder_is_a_note(write, given, ending):
    write(f"{STEM}-buffer-assignment.txt")
    write(f"older{ending}", b"")
    (note,) = find_dumps(given).problems
    assert not note.left_out
    assert note.file == f"{given}/older{ending}"
    assert note.message.endswith("name it: xlagraph ingest FILE")
