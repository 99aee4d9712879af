"""Two runs of dumps that change at random, to be ingested by processes that die."""

import random
from collections.abc import Mapping
from pathlib import Path

from tests.faults.harness.graph_states import key_of, put_dump
from tests.tiny_dumps import dump

KEYS = (
    key_of("alpha", 1, "jit_f"),
    key_of("alpha", 3, "jit_g"),
    key_of("alpha", 7, "jit_wide"),
    key_of("beta", 1, "jit_f"),
    key_of("beta", 5, "jit_h"),
)

_WIDE = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {{}}:
 value: <0 p @0> (size=64,offset=0): f32[16]{{0}}
allocation 1: size {total}, preallocated-temp:
{placed}

Total bytes used: {all} ({all}B)

Used values:
<0 p @0>
 positions:
  p
 uses:
  t.1, operand 0
 from instruction: %p = f32[16]{{0}} parameter(0), metadata={{op_name="p"}}
{used}


HloLiveRange (max {count}):
  InstructionSequence:
    0:p
{sequence}
  BufferLiveRange:
    p{{}}:0-1
{ranges}
  Live ranges at 1 (peak):
    p{{}}: 64 bytes (cumulative: 64 bytes)
    t.1{{}}: 64 bytes (cumulative: 128 bytes)
"""


def wide_dump(count: int) -> str:
    """Write a dump of so many values: several transactions on a server."""
    numbers = range(1, count + 1)
    used = (
        f"<{n} t.{n} @0>\n positions:\n  t.{n}\n uses:\n"
        + (f"  t.{n + 1}, operand 0\n" if n < count else "")
        + f" from instruction: %t.{n} = f32[16]{{0}} negate(%{'p' if n == 1 else f't.{n - 1}'}), "
        f'metadata={{op_name="jit(f)/layer_{n % 50}/neg" source_file="f.py" source_line={n % 90}}}'
        for n in numbers
    )
    return _WIDE.format(
        total=64 * count,
        all=64 * count + 64,
        count=count + 1,
        placed="\n".join(
            f" value: <{n} t.{n} @0> (size=64,offset={64 * (n - 1)}): f32[16]{{0}}" for n in numbers
        ),
        used="\n".join(used),
        sequence="\n".join(f"    {n}:t.{n}" for n in numbers),
        ranges="\n".join(f"    t.{n}{{}}:{n}-{min(n + 1, count + 1)}" for n in numbers),
    )


class ChangingDumps:
    """A folder of dumps, and what is in it by key.

    The wide one has about so many values; each file ends in so many blank lines.
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
