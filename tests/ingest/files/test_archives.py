"""Archives, packed files and dumps on standard output are unpacked within their folder."""

import bz2
import gzip
import io
import lzma
import shutil
import stat
import subprocess
import tarfile
import zipfile

import pytest

from tests.packers import PACKERS, zstandard
from xlagraph.ingest.errors import UnreadableDump
from xlagraph.ingest.files import archives
from xlagraph.ingest.files.archives import unpack

DUMP = b"BufferAssignment:\nallocation 0: size 4\n"
NAME = "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"


def tar(members):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


def zipped(members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def files_of(content, folder, name="dumps", packed_bytes=None):
    problems = unpack(io.BytesIO(content), name, folder, packed_bytes)
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return found, [str(problem) for problem in problems]


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_a_packed_file_is_one_file_without_the_suffix(suffix, pack, tmp_path):
    assert files_of(pack(DUMP), tmp_path, f"{NAME}{suffix}") == ({NAME: DUMP}, [])


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), *PACKERS])
def test_a_tar_keeps_its_folders_in_every_compression(suffix, pack, tmp_path):
    content = pack(tar({f"./runs/a/{NAME}": DUMP, f"runs/b/{NAME}": b"b"}))
    found, problems = files_of(content, tmp_path, f"dumps.tar{suffix}")
    assert found == {f"runs/a/{NAME}": DUMP, f"runs/b/{NAME}": b"b"}
    assert problems == []


@pytest.mark.skipif(shutil.which("tar") is None, reason="the command tar is not installed")
@pytest.mark.parametrize("form", ["gnu", "pax", "ustar"])
def test_a_tar_of_the_tar_command_is_read(form, tmp_path):
    long_name = f"{'a' * 90}/{'b' * 90}.txt"
    path = tmp_path / "runs" / long_name
    path.parent.mkdir(parents=True)
    path.write_bytes(DUMP)
    packed = tmp_path / "dumps.tar.gz"
    subprocess.run(
        ["tar", f"--format={form}", "-C", tmp_path, "-czf", packed, "runs"],
        check=True,
    )
    (tmp_path / "into").mkdir()
    found, problems = files_of(packed.read_bytes(), tmp_path / "into", packed.name)
    assert found[f"runs/{long_name}"] == DUMP
    assert problems == []


def test_a_zip_keeps_its_folders(tmp_path):
    found, problems = files_of(zipped({f"runs/a/{NAME}": DUMP, "runs/": b""}), tmp_path)
    assert (found, problems) == ({f"runs/a/{NAME}": DUMP}, [])


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "C:/out.txt"])
def test_no_path_is_outside_the_folder(make, name, tmp_path):
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    found, problems = files_of(make({name: b"x", NAME: DUMP}), folder)
    assert found == {NAME: DUMP}
    assert problems == [f"dumps: {name!a}: its path is outside of the archive"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [folder / NAME]


def test_links_and_devices_of_a_tar_are_left_out(tmp_path):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
    found, problems = files_of(content.getvalue(), tmp_path)
    assert found == {}
    assert problems == [
        f"dumps: '{name}': it is a link, a device or sparse" for name in ("link", "hard", "device")
    ]


def test_a_link_of_a_zip_becomes_a_file(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        member = zipfile.ZipInfo("link")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc/passwd")
    assert files_of(content.getvalue(), tmp_path)[0] == {"link": b"/etc/passwd"}
    assert not (tmp_path / "link").is_symlink()


def test_of_two_equal_names_the_first_is_kept(tmp_path):
    content = tar({"a.txt": b"1"})[:1024] + tar({"a.txt": b"2"})
    found, problems = files_of(content, tmp_path)
    assert found == {"a.txt": b"1"}
    assert problems == ["dumps: 'a.txt': a second member of this name, the first is kept"]


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b"\0" * 50_000),
        gzip.compress(gzip.compress(b"\0" * 50_000)),
        gzip.compress(tar({"a.txt": b"\0" * 50_000})),
        zipped({"a.txt": b"\0" * 50_000}),
        gzip.compress(b"*** Begin a.txt ***\n" + b"\0" * 50_000),
    ],
    ids=["file", "packed twice", "tar", "zip", "log"],  # packers write the time of day
)
def test_an_archive_that_unpacks_to_far_too_much_is_refused_with_its_sizes(
    content, tmp_path, monkeypatch
):
    monkeypatch.setattr(archives, "_LEAST_BOUND", 10_000)
    monkeypatch.setattr(archives, "_MOST_RATIO", 2)
    with pytest.raises(UnreadableDump) as refused:
        unpack(io.BytesIO(content), "bomb", tmp_path, len(content))
    assert str(refused.value.problem) == (
        f"bomb: its {len(content):,} bytes unpack to more than 10,000 bytes; unpack it first"
    )


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(DUMP * 100)[:-20],
        lzma.compress(DUMP * 100)[:-20],
        bz2.compress(DUMP * 100)[:-20],
        zstandard(DUMP * 100)[:-5],
        zipped({NAME: DUMP})[:-30],
        tar({NAME: DUMP * 100})[:900],
        b"\x1f\x8bnothing of the kind",
    ],
    ids=["gzip", "xz", "bzip2", "zstandard", "zip", "tar", "not packed"],
)
def test_an_incomplete_archive_is_named(content, tmp_path):
    with pytest.raises(UnreadableDump) as refused:
        unpack(io.BytesIO(content), "dumps", tmp_path)
    assert str(refused.value.problem).startswith("dumps: cannot be unpacked: ")


def test_files_in_a_log_are_extracted(tmp_path):
    content = b"".join(
        (
            b"step 1\n*** Begin a.txt ***\n",
            DUMP,
            b"\n*** End a.txt ***\nstep 2\n*** Begin b.txt ***\r\nno end of line",
            b"\n*** End b.txt ***\n*** Begin c.txt ***\n*** End a.txt ***\n\n\n*** End c.txt ***\n",
        )
    )
    found, problems = files_of(content, tmp_path)
    assert found == {
        "a.txt": DUMP,
        "b.txt": b"no end of line",
        "c.txt": b"*** End a.txt ***\n\n",
    }
    assert problems == []


def test_a_cut_file_in_a_log_is_named(tmp_path):
    found, problems = files_of(b"*** Begin a.txt ***\nBufferAss", tmp_path)
    assert found == {"a.txt": b"BufferAss"}
    assert problems == ["dumps: a.txt: its end is missing"]


def test_a_file_in_a_log_stays_in_the_folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    content = b"*** Begin ../a.txt ***\nx\n*** End ../a.txt ***\n"
    content += b"*** Begin b.txt ***\ny\n*** End b.txt ***\n"
    found, problems = files_of(content, folder)
    assert found == {"b.txt": b"y"}
    assert problems == ["dumps: '../a.txt': its path is outside of the archive"]


def test_an_empty_stream_is_an_empty_file(tmp_path):
    assert files_of(b"", tmp_path, "nothing.txt") == ({"nothing.txt": b""}, [])


def damaged(content, *, at):
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def test_a_damaged_member_of_a_zip_is_left_out_and_the_rest_kept(tmp_path):
    members = {f"{number}/{NAME}": DUMP * 20 + b"%d" % number for number in range(3)}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    wrong = damaged(content.getvalue(), at=content.getvalue().index(DUMP) + 5)
    found, problems = files_of(wrong, tmp_path)
    assert list(found) == [f"1/{NAME}", f"2/{NAME}"]
    assert problems[0].startswith(f"dumps: '0/{NAME}': cannot be unpacked: Bad CRC-32")


def test_a_long_name_of_a_member_is_shown_on_one_line_with_its_end(tmp_path):
    name = f"../{'long/' * 1000}{NAME}\nforged"
    _, (problem,) = files_of(zipped({name: DUMP}), tmp_path)
    assert len(problem) < 300
    assert f"{NAME}\\nforged': its path is outside" in problem


@pytest.mark.parametrize(
    ("offset", "value", "reason"), [(8, 99, "cannot be unpacked"), (6, 1, "it is encrypted")]
)
def test_an_encrypted_or_unknown_member_of_a_zip_is_left_out(tmp_path, offset, value, reason):
    content = bytearray(zipped({f"0/{NAME}": DUMP, f"1/{NAME}": DUMP}))
    content[offset] = value  # of the first member, and of its entry at the end
    content[content.index(b"PK\x01\x02") + offset + 2] = value
    found, problems = files_of(bytes(content), tmp_path)
    assert list(found) == [f"1/{NAME}"]
    assert reason in problems[0]


def test_a_truncated_tar_keeps_its_whole_members(tmp_path):
    content = tar({f"0/{NAME}": DUMP * 100, f"1/{NAME}": DUMP * 100})
    found, problems = files_of(content[:6000], tmp_path)
    assert list(found) == [f"0/{NAME}"]
    assert f"'1/{NAME}"[:40] in problems[0]
    assert "its end cannot be unpacked" in problems[1]


def test_a_damaged_header_in_a_tar_leaves_out_its_member_only(tmp_path):
    content = bytearray(tar({f"{run}/{NAME}": DUMP * 100 for run in range(3)}))
    content[content.index(f"1/{NAME}".encode()) + 150] ^= 1  # its checksum
    found, problems = files_of(bytes(content), tmp_path)
    assert sorted(found) == [f"0/{NAME}", f"2/{NAME}"]
    assert "what follows it has a damaged header" in problems[0]
    assert len(problems) == 1


def test_a_truncated_packed_tar_keeps_its_whole_members(tmp_path):
    content = tar({f"0/{NAME}": DUMP * 5000, f"1/{NAME}": DUMP * 5000})
    found, _ = files_of(gzip.compress(content, 0)[:-100_000], tmp_path)
    assert list(found) == [f"0/{NAME}"]


@pytest.mark.parametrize(
    "name", ["a\nleft out: b", "\x1b[2Ja", "x" * 300, "0/" + "y/" * 3000 + "z", f"0/{NAME}/inside"]
)
def test_a_hostile_name_leaves_out_its_member_on_one_line(tmp_path, name):
    found, problems = files_of(tar({f"0/{NAME}": DUMP, name: DUMP, "1/other": DUMP}), tmp_path)
    assert list(found) == [f"0/{NAME}", "1/other"]
    assert len(problems) == 1
    assert problems[0].isprintable()


class Endless(io.RawIOBase):
    """A stream without an end that counts the bytes read."""

    count = 0

    def read(self, size=-1):
        self.count += size
        return b"x" * size


def test_a_stream_that_does_not_begin_like_a_dump_is_rejected_after_a_few_pages(tmp_path):
    stream = Endless()
    with pytest.raises(UnreadableDump, match="does not begin with `BufferAssignment:`"):
        unpack(stream, "stdin", tmp_path)  # type: ignore[arg-type]  # it only reads
    assert stream.count <= 2**18
    assert not any(tmp_path.iterdir())
