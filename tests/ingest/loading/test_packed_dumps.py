"""Archives, packed files and standard input are ingested like the folders in them."""

import gzip
import io
import shutil
import sys
import zipfile
from pathlib import Path

from tests.ingest.one_value_dumps import name
from xlagraph.ingest import ingest
from xlagraph.ingest.files.packed_dumps import UnpackedFolders

BEGIN, END = "*** Begin {} ***\n", "\n*** End {} ***\n"


def test_an_archive_of_runs_is_ingested_like_its_folder(graph, runs, write, tmp_path):
    for run in ("baseline", "candidate"):
        write(run)
    archive = shutil.make_archive(str(tmp_path / "all"), "xztar", runs)
    summary = ingest(graph, archive)
    assert summary.added == (f"baseline/{name(1)}", f"candidate/{name(1)}")
    stored = graph.stored_runs({"baseline"})["baseline"]
    assert stored.path == f"{Path(archive).resolve()}/baseline"


def test_an_archive_of_one_run_names_it_and_is_unchanged_the_second_time(
    graph, runs, write, tmp_path
):
    dump = write("baseline")
    with zipfile.ZipFile(tmp_path / "monday.zip", "w") as archive:
        archive.write(dump, dump.name)
    assert ingest(graph, tmp_path / "monday.zip").added == (f"monday/{name(1)}",)
    assert ingest(graph, tmp_path / "monday.zip").unchanged == (f"monday/{name(1)}",)


def test_a_dump_to_standard_output_is_read_from_standard_input(graph, write, monkeypatch):
    dump = write("baseline")
    stream = f"log\n{BEGIN.format(dump.name)}{dump.read_text()}{END.format(dump.name)}done\n"
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(stream.encode())))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert ingest(graph, "-").added == (f"stdin/{name(1)}",)


def test_a_fault_inside_an_archive_is_named_with_the_archive(graph, runs, write, tmp_path):
    write("baseline")
    write("baseline", 2, "BufferAssignment:\nallocation one\n")
    archive = shutil.make_archive(str(tmp_path / "all"), "gztar", runs)
    summary = ingest(graph, archive)
    assert summary.added == (f"baseline/{name(1)}",)
    (problem,) = summary.problems
    assert problem.file == f"{archive}/baseline/{name(2)}-buffer-assignment.txt"
    assert problem.line == 2


def test_an_incomplete_archive_or_one_without_dumps_is_named(graph, tmp_path):
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(gzip.compress(bytes(100_000))[:50])
    empty = tmp_path / "empty.zip"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    summary = ingest(graph, [cut, empty])
    assert summary.added == ()
    about_cut, about_empty = summary.problems
    assert about_cut.file == str(cut)
    assert about_cut.message.startswith("cannot be unpacked")
    assert about_empty == (str(empty), None, "contains no dump", True)


def test_a_file_that_is_neither_a_dump_nor_packed_is_named(graph, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    (problem,) = ingest(graph, tmp_path / "notes.txt").problems
    assert "is not a dump" in problem.message


def test_unpacked_files_are_removed_afterwards(write, tmp_path):
    dump = write("baseline")
    packed = tmp_path / "one.txt.gz"
    packed.write_bytes(gzip.compress(gzip.compress(dump.read_bytes())))
    with UnpackedFolders() as folders:
        (found,) = folders.find_dumps(packed, None).dumps
        assert found.path.read_bytes() == dump.read_bytes()
    assert not found.path.parent.exists()
