"""Two runs of dumps that change at random, for processes that are killed during an ingest."""

import random
from collections.abc import Mapping
from pathlib import Path

from tests.faults.harness.graph_states import key_of, put_dump
from tests.tiny_dumps import dump, tiny_dump

KEYS = (
    key_of("alpha", 1, "jit_f"),
    key_of("alpha", 3, "jit_g"),
    key_of("alpha", 7, "jit_wide"),
    key_of("beta", 1, "jit_f"),
    key_of("beta", 5, "jit_h"),
)


def wide_dump(count: int) -> str:
    """Write a dump with this many values: several transactions on a server."""
    last = count + 1
    rows = ["0 | p | f32[16]{0} | 0 | 64 | 0-1 | parameter(0) | p"]
    rows += [
        f"1 | t.{n} | f32[16]{{0}} | {64 * (n - 1)} | 64 | {n}-{min(n + 1, last)} "
        f"| negate({'p' if n == 1 else f't.{n - 1}'}) | jit(f)/layer_{n % 50}/neg @ f.py:{n % 90}"
        for n in range(1, last)
    ]
    return tiny_dump(
        f"""
        0 | 64           | parameter 0, shape |f32[16]| at ShapeIndex {{}}
        1 | {64 * count} | preallocated-temp
        """,
        "\n".join(rows),
    )


class ChangingDumps:
    """A folder of dumps, and their content by key.

    The wide one has about ``values`` values; each file ends in a number of blank lines.
    """

    def __init__(
        self, folder: Path, chance: random.Random, *, wide: int, blank_lines: int = 0
    ) -> None:
        self.folder = folder
        self.chance = chance
        self._wide = wide
        self._blank_lines = blank_lines
        self.texts: dict[str, str] = {}
        for key in KEYS:
            self._put(key)

    def change(self) -> None:
        """Replace the content of one to three dumps."""
        for key in self.chance.sample(KEYS, self.chance.randint(1, 3)):
            self._put(key)

    def take_away(self) -> None:
        """Delete a dump, never the last one of its run."""
        candidates = [
            key
            for key in self.texts
            if sum(other.split("/")[0] == key.split("/")[0] for other in self.texts) > 1
        ]
        if candidates:
            self._delete(self.chance.choice(sorted(candidates)))

    def run_of(self, run: str) -> Mapping[str, str]:
        """Return the dumps of one run."""
        return {key: text for key, text in self.texts.items() if key.startswith(f"{run}/")}

    def _put(self, key: str) -> None:
        if "wide" in key:
            text = wide_dump(self._wide + self.chance.randint(0, 3))
        else:
            text = dump(self.chance.choice((64, 128, 256, 512)))
        text += "\n" * self._blank_lines
        put_dump(self.folder, key, text)
        self.texts[key] = text

    def _delete(self, key: str) -> None:
        (self.folder / f"{key}-buffer-assignment.txt").unlink()
        del self.texts[key]
