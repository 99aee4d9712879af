"""The peak as a file of speedscope: a flame graph whose widths are bytes."""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from xlagraph.exports.file_formats import write_whole
from xlagraph.exports.peak_stacks import PeakSample, StackCall, read_peak
from xlagraph.graph.engine import Graph
from xlagraph.hlo.grouping import grouped

_SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"


def write_speedscope(graph: Graph, compilation: str, path: Path) -> None:
    """Write the physical peak of a compilation, by its key: a profile for each memory space.

    Raises what `read_peak` raises, and GraphUnwritable.
    """
    frames: dict[StackCall, int] = {}
    shares_by_space = grouped((share.space, share) for share in read_peak(graph, compilation))
    profiles = [
        {"name": f"{compilation}, physical peak of {space}", **_profile(shares, frames)}
        for space, shares in shares_by_space.items()
    ]
    document = {
        "$schema": _SCHEMA,
        "exporter": f"xlagraph@{version('xlagraph')}",
        "name": compilation,
        "activeProfileIndex": 0,
        "profiles": profiles,
        "shared": {"frames": [_frame(call) for call in frames]},
    }
    write_whole(path, json.dumps(document, ensure_ascii=False).encode())


def _profile(shares: Sequence[PeakSample], frames: dict[StackCall, int]) -> dict[str, object]:
    """Return the profile of a memory space; new calls are added to ``frames``."""
    # left heavy or not, equal stacks stand side by side
    ordered = sorted(shares, key=lambda share: [(c.function, c.file, c.line) for c in share.stack])
    weights = [share.physical_bytes for share in ordered]
    return {
        "type": "sampled",
        "unit": "bytes",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": [
            [frames.setdefault(call, len(frames)) for call in share.stack] for share in ordered
        ],
        "weights": weights,
    }


def _frame(call: StackCall) -> dict[str, object]:
    place = {"file": call.file} if call.file else {}
    line = {"line": call.line} if call.line else {}
    return {"name": call.function, **place, **line}
