"""The peak as a profile of pprof, with the labels of JAX's own device memory profiles."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from xlagraph.exports.file_formats import write_whole
from xlagraph.exports.peak_stacks import StackCall, read_peak
from xlagraph.graph.engine import Graph
from xlagraph.hlo.descriptor_sets import DescriptorSet

Profile: Final = DescriptorSet(Path(__file__).parent, "profile").message("Profile")
# as in jax.profiler.device_memory_profile
_SAMPLE_TYPES: Final = (("allocations", "count"), ("space", "bytes"))


def write_pprof(graph: Graph, compilation: str, path: Path) -> None:
    """Write the physical peak of a compilation, by its key, by call stack.

    Two values are counted at each stack: `allocations`, how many values it made, and `space`,
    their bytes. The label `kind` is `buffer`, `device` is the memory space, and `category` the
    part in the program: `pprof -tagfocus category=weight` shows weights.

    Raises what `read_peak` raises, and GraphUnwritable.
    """
    profile = _ProfileWriter(compilation)
    counts: Counter[_CallOrigin] = Counter()
    sizes: Counter[_CallOrigin] = Counter()
    for share in read_peak(graph, compilation):
        origin = _CallOrigin(share.space, share.category, share.stack)
        counts[origin] += 1
        sizes[origin] += share.physical_bytes
    for origin, count in counts.items():
        profile.add_sample(origin, (count, sizes[origin]))
    content = profile.profile.SerializeToString(deterministic=True)
    write_whole(path, gzip.compress(content, mtime=0))


class _CallOrigin(NamedTuple):
    space: str
    category: str
    stack: tuple[StackCall, ...]


class _ProfileWriter:
    """A profile under construction; strings, functions and locations are stored once."""

    def __init__(self, compilation: str) -> None:
        self.profile: Any = Profile()
        self._texts: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[StackCall, int] = {}
        self._text("")
        for kind, unit in _SAMPLE_TYPES:
            self.profile.sample_type.add(type=self._text(kind), unit=self._text(unit))
        self.profile.default_sample_type = self._text("space")
        self.profile.comment.append(self._text(f"xlagraph: physical peak of {compilation}"))
        self.profile.mapping.add(
            id=1,
            has_functions=True,
            has_filenames=True,
            has_line_numbers=True,
        )

    def add_sample(self, origin: _CallOrigin, values: tuple[int, int]) -> None:
        """Add the number of one origin's values, and their bytes."""
        sample = self.profile.sample.add(
            location_id=[self._location(call) for call in reversed(origin.stack)], value=values
        )
        labels = {"kind": "buffer", "device": origin.space, "category": origin.category}
        for key, text in labels.items():
            sample.label.add(key=self._text(key), str=self._text(text))

    def _location(self, call: StackCall) -> int:
        if call not in self._locations:
            number = self._locations[call] = len(self._locations) + 1
            location = self.profile.location.add(id=number, mapping_id=1)
            location.line.add(function_id=self._function(call), line=call.line)
        return self._locations[call]

    def _function(self, call: StackCall) -> int:
        name = (call.function, call.file)
        if name not in self._functions:
            number = self._functions[name] = len(self._functions) + 1
            # without a system name, which pprof would take for C++ and cut `<module>` out of it
            self.profile.function.add(
                id=number, name=self._text(call.function), filename=self._text(call.file)
            )
        return self._functions[name]

    def _text(self, text: str) -> int:
        if text not in self._texts:
            self._texts[text] = len(self._texts)
            self.profile.string_table.append(text)
        return self._texts[text]
