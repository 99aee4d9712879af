"""Packed dumps are read like others, and files that are no dumps are known by their start."""

import gzip

import pytest

from tests.packers import PACKERS
from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.ingest import find_dumps
from xlagraph.ingest.carriers import file_bytes
from xlagraph.ingest.carriers.file_bytes import read_bytes, start_of_large_file
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.files.contents import read_compilation, read_dump

DUMP = b"BufferAssignment:\nallocation 0: size 4, constant:\n"


def test_a_file_that_unpacks_beyond_a_limit_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(DUMP + b"\n" * 2**20))
    assert len(read_bytes(path)) == len(DUMP) + 2**20
    assert file_bytes.MOST_UNPACKED_BYTES == 2**30
    monkeypatch.setattr(file_bytes, "MOST_UNPACKED_BYTES", 2**20)
    with pytest.raises(OSError, match=r"it unpacks to more than 0.00097\d* GiB; unpack it first"):
        read_bytes(path)


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_dumps_in_a_folder_are_read_in_every_packing(suffix, pack, tmp_path):
    text = tiny_dump("0 | 64 | preallocated-temp", "0 | a | f32[16] | 0 | 64 | 0-1 | iota()")
    write_dump(tmp_path, 1, "jit_f", text)
    for path in list(tmp_path.iterdir()):
        path.with_name(path.name + suffix).write_bytes(pack(path.read_bytes()))
        path.unlink()
    (tmp_path / f"renamed.txt{suffix}").write_bytes(pack(b"BufferAssignment:\n"))
    found = find_dumps(tmp_path)
    assert [dump.stem for dump in found.dumps] == [
        "module_0001.jit_f.cpu_after_optimizations",
        "renamed",
    ]
    plan, _ = read_compilation(read_dump(found.dumps[0]))
    assert len(plan.values) == 1


def test_an_empty_protobuf_dump_of_the_last_stage_is_found_and_reported(tmp_path):
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations.hlo.pb").touch()
    (tmp_path / "module_0001.jit_f.before_optimizations.hlo.pb").touch()
    (dump,) = find_dumps(tmp_path).dumps
    with pytest.raises(UnreadableDump, match=r"after_optimizations\.hlo\.pb: is empty"):
        read_compilation(read_dump(dump))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("module_0001.jit_f.after_optimizations-buffer-assignment.txt", "the first line of a dump"),
        ("module_0001.jit_f.after_optimizations.hlo.pb", "an HloProto"),
    ],
)
def test_a_large_file_that_does_not_begin_like_a_dump_is_known_by_its_start(
    tmp_path, pack, name, expected
):
    path = tmp_path / (name if pack is bytes else f"{name}.gz")
    path.write_bytes(pack(b"g" * 2**21))
    (dump,) = find_dumps(tmp_path).dumps
    with pytest.raises(UnreadableDump, match=rf"expected {expected}.*, found '{'g' * 60}…'"):
        read_dump(dump)


@pytest.mark.parametrize("start", [b"BufferAssignment:\n", b"x"])
def test_only_the_start_of_a_large_file_is_read(tmp_path, start):
    path = tmp_path / "f.txt"
    path.write_bytes(start * 2**21)
    found = start_of_large_file(path)
    assert found is not None
    assert len(found) == 2**20
    path.write_bytes(start)
    assert start_of_large_file(path) is None
