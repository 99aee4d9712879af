"""A folder that XProf's memory viewer opens: compilations as the programs of a profile."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from xlagraph.exports.file_formats import write_whole
from xlagraph.exports.hlo_proto import hlo_proto
from xlagraph.exports.placed_program import read_program
from xlagraph.graph.engine import Graph
from xlagraph.graph.errors import GraphUnwritable
from xlagraph.hlo.proto_messages import XSpace

_PLANE: Final = "/host:metadata"
_STAT: Final = "Hlo Proto"
_STAT_ID: Final = 1


def write_xprof(graph: Graph, session: str, compilations: Sequence[str], folder: Path) -> Path:
    """Write compilations, by their keys, as one session of XProf; return its file.

    It is `plugins/profile/SESSION/xlagraph.xplane.pb` below the folder, which is the one that
    `xprof --logdir` takes. Programs are called `MODULE(N)`, N from 1 in the order given.

    Raises NameUnknown if a compilation does not exist, GraphUnwritable if the session exists.
    """
    home = folder / "plugins" / "profile" / _file_name(session)
    if home.exists():  # XProf keeps next to a profile what it made of it, and would show that
        raise GraphUnwritable(
            f"{home} already exists; remove it, or name another folder than {folder}"
        )
    space = XSpace()
    plane = space.planes.add(name=_PLANE)
    plane.stat_metadata[_STAT_ID].id = _STAT_ID
    plane.stat_metadata[_STAT_ID].name = _STAT
    for number, compilation in enumerate(compilations, 1):
        program = read_program(graph, compilation)
        event = plane.event_metadata[number]
        event.id = number
        event.name = f"{_file_name(program.module)}({number})"
        event.stats.add(
            metadata_id=_STAT_ID,
            bytes_value=hlo_proto(program).SerializeToString(deterministic=True),
        )
    path = home / "xlagraph.xplane.pb"
    write_whole(path, space.SerializeToString(deterministic=True))
    return path


def _file_name(name: str) -> str:
    """Return a text that is valid as a folder name, and as a file name for XProf."""
    return name.replace("/", "_")
