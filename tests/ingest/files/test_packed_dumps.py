"""Packed dumps are read like others, and files that are no dumps are known by their start."""

import gzip
import lzma
from bz2 import compress as pack_bz2
from functools import partial

import pyarrow as pa
import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.ingest import find_dumps
from xlagraph.ingest.carriers.file_bytes import (
    MOST_UNPACKED_BYTES,
    read_bytes,
    start_of_another_file,
)
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.files.contents import read_compilation, read_dump

DUMP = b"BufferAssignment:\nallocation 0: size 4, constant:\n"


def test_a_file_that_unpacks_beyond_a_limit_is_named(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(DUMP + b"\n" * 2**20))
    assert len(read_bytes(path)) == len(DUMP) + 2**20
    with pytest.raises(OSError, match=r"it unpacks to more than 0.00097\d* GiB; unpack it first"):
        read_bytes(path, most_bytes=2**20)
    assert MOST_UNPACKED_BYTES == 2**30


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", pack_bz2),
        (".zst", partial(pa.compress, codec="zstd", asbytes=True)),
    ],
)
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
def test_a_large_file_that_does_not_begin_like_a_dump_is_known_by_its_start(tmp_path, pack):
    path = tmp_path / "module_0001.jit_f.after_optimizations-buffer-assignment.txt"
    path.write_bytes(pack(b"x" * 2**21))
    assert start_of_another_file(path) == "x" * 60
    path.write_bytes(pack(b"BufferAssignment:\n" * 2**17))
    assert start_of_another_file(path) is None
