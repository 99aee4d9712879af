"""A profile in any folder contains a compilation for each executable."""

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.carriers.proto.small_protos import hlo
from xlagraph.hlo.proto_messages import XSpace
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.ingest.files.discovery import find_dumps

PROGRAM = hlo("main:\n  p = f32[4] parameter(0) <1>\n  ROOT a = f32[4] negate(p) <2>\n")
MODULE_ALONE = hlo("main:\n  ROOT a = f32[4] constant() <2>\n")
MODULE_ALONE.ClearField("buffer_assignment")


def profile(**executables: Any) -> bytes:
    """Return a profile; a key ``f_8`` names the executable ``f(8)``."""
    space = XSpace()
    device = space.planes.add(name="/device:GPU:0")
    device.lines.add(name="a line with events")
    metadata = space.planes.add(name="/host:metadata")
    metadata.stat_metadata[3].name = "Hlo Proto"
    metadata.stat_metadata[4].name = "something else"
    for number, (name, message) in enumerate(executables.items()):
        event = metadata.event_metadata[number]
        event.name = "{}({})".format(*name.split("_"))
        event.stats.add(metadata_id=4, bytes_value=b"?")
        event.stats.add(metadata_id=3, bytes_value=message.SerializeToString())
    return bytes(space.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "job" / "plugins" / "profile" / "2026_11_23_01_02_03"
    found.mkdir(parents=True)
    return found


def keys(path: Path) -> list[str]:
    return [dump.key for dump in find_dumps(path).dumps]


def test_each_executable_is_a_compilation_in_a_run_named_after_the_profile(folder: Path):
    (folder / "vm.xplane.pb").write_bytes(profile(f_8=PROGRAM, g_9=PROGRAM))
    named = ["2026_11_23_01_02_03/f(8)", "2026_11_23_01_02_03/g(9)"]
    job = folder.parents[2]
    assert keys(job.parent) == [f"job/{name}" for name in named]
    for path in (
        job,
        job / "plugins",
        job / "plugins" / "profile",
        folder,
        folder / "vm.xplane.pb",
    ):
        assert keys(path) == named


def test_an_executable_is_read_from_its_range_of_bytes(folder: Path):
    (folder / "vm.xplane.pb").write_bytes(profile(f_8=PROGRAM, g_9=PROGRAM))
    summary = ingest(None, folder, IngestOptions(dry_run=True))
    assert summary.ok
    assert summary.values == 4
    (dump, _) = find_dumps(folder).dumps
    assert dump.sources[0].parts[0].length == len(PROGRAM.SerializeToString())
    assert (dump.name.module, dump.name.module_id) == ("f", 8)


def test_profiles_of_several_hosts_have_different_names(folder: Path):
    for host in ("vm_0", "vm_1"):
        (folder / f"{host}.xplane.pb").write_bytes(profile(f_8=PROGRAM))
    assert keys(folder) == ["2026_11_23_01_02_03/vm_0/f(8)", "2026_11_23_01_02_03/vm_1/f(8)"]
    assert {dump.name.module for dump in find_dumps(folder).dumps} == {"f"}


def test_a_file_of_xprof_beside_the_profile_is_the_same_compilation(folder: Path):
    (folder / "vm.xplane.pb").write_bytes(profile(f_8=PROGRAM))
    (folder / "f(8).hlo_proto.pb").write_bytes(PROGRAM.SerializeToString())
    (dump,) = find_dumps(folder).dumps
    assert [source.carrier for source in dump.sources] == ["proto", "profile"]


def test_executables_without_an_assignment_are_skipped(folder: Path):
    path = folder / "vm.xplane.pb"
    path.write_bytes(profile(f_8=MODULE_ALONE))
    assert find_dumps(folder).problems == ()
    (problem,) = find_dumps(path).problems
    assert problem.message == (
        "contains no executable with a buffer assignment: profile a process that has compiled, "
        "with jax.profiler.trace"
    )


def test_a_name_that_is_not_utf_8_is_kept_readable(folder: Path):
    written = profile(f_8=PROGRAM).replace(b"f(8)", b"\xff(8)")
    (folder / "vm.xplane.pb").write_bytes(written)
    assert keys(folder) == ["2026_11_23_01_02_03/\\xff(8)"]


@pytest.mark.parametrize(
    "content",
    [profile(f_8=PROGRAM)[:-4], b"# a note\n", b"\x0a\xff\xff\xff\xff\x07"],
    ids=["cut", "text", "2 GiB long"],
)
def test_a_damaged_profile_is_skipped_with_a_message(folder: Path, content: bytes):
    (folder / "vm.xplane.pb").write_bytes(content)
    other = folder.with_name("whole")
    other.mkdir()
    (other / "vm.xplane.pb").write_bytes(profile(f_8=PROGRAM))
    summary = ingest(None, folder.parent, IngestOptions(dry_run=True))
    assert summary.added == ("whole/f(8)",)
    (problem,) = summary.problems
    assert problem.left_out
    assert str(problem).startswith(f"{folder / 'vm.xplane.pb'}: expected a whole profile, but")
