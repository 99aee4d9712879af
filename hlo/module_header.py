"""Parse the first line of a module text, which states facts of the whole program.

HloModule jit_step, is_scheduled=true,
input_output_alias={ {0}: (1, {}, may-alias), {1,0}: (2, {3}, must-alias) },
buffer_donor={ (0, {}), (4, {1}) }, …, num_partitions=8
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from xlagraph.hlo.program import EntryParameter

__all__ = ["ModuleHeader", "parse_module_header"]


@dataclass(frozen=True, slots=True)
class ModuleHeader:
    """The donated inputs of a program and its number of partitions."""

    name: str | None = None
    output_by_donated: Mapping[EntryParameter, str] = field(default_factory=dict)
    """Shape index of the output paired with each donated input (``input_output_alias``)."""
    unpaired_donors: frozenset[EntryParameter] = frozenset()
    """Donated inputs that are not paired with an output (``buffer_donor``)."""
    partitions: int = 1


_INDEX: Final = r"(\{[\d, ]*+\})"
# {0}: (1, {}, may-alias)   without the kind up to 2020
_ALIAS: Final = rf"{_INDEX}: \((\d{{1,18}}), {_INDEX}(?:, (?:may|must)-alias)?\)"
# (4, {1})
_DONOR: Final = rf"\((\d{{1,18}}), {_INDEX}\)"
_ALIASES: Final = re.compile(rf", input_output_alias=\{{ *({_ALIAS},? *)*+\}}")
_DONORS: Final = re.compile(rf", buffer_donor=\{{ *({_DONOR},? *)*+\}}")
_NAME: Final = re.compile(r"HloModule ([^\s,]+)")
_PARTITIONS: Final = re.compile(r", num_partitions=(\d{1,9})(?!\d)")


def parse_module_header(line: str) -> ModuleHeader:
    """Parse the line that begins with ``HloModule``; skip the parts that do not match."""
    aliases = _ALIASES.search(line)
    donors = _DONORS.search(line)
    partitions = _PARTITIONS.search(line)
    name = _NAME.match(line)
    return ModuleHeader(
        name[1] if name else None,
        {
            _parameter(number, index): _plain(output)
            for output, number, index in re.findall(_ALIAS, aliases[0] if aliases else "")
        },
        frozenset(
            _parameter(number, index)
            for number, index in re.findall(_DONOR, donors[0] if donors else "")
        ),
        int(partitions[1]) if partitions else 1,
    )


def _parameter(number: str, index: str) -> EntryParameter:
    return EntryParameter(int(number), _plain(index))


def _plain(index: str) -> str:
    return index.replace(" ", "")
