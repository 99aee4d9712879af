"""Decide which compilations are complete in a folder that a job is still writing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, NamedTuple

from xlagraph.ingest.files.dump_files import DumpFiles

_MOST_LOOKS_BETWEEN_TRIES: Final = 64


class HeldBack(NamedTuple):
    """A compilation that is not in the graph, with the reason."""

    compilation: str
    reason: str


@dataclass(slots=True)
class _FailedRead:
    """A compilation that could not be ingested in its present state."""

    reason: str
    state: bytes
    looks: int
    """Number of looks to wait before the next try."""
    left: int
    """Number of looks that remain to be waited."""


@dataclass(slots=True)
class Readiness:
    """The states of compilations in earlier looks; memory grows with compilations, not looks."""

    _done: dict[str, bytes] = field(default_factory=dict)
    """State of the files of each ingested compilation, by key."""
    _states: dict[str, bytes] = field(default_factory=dict)
    """State of each compilation at the last look, by key."""
    _waiting: dict[str, bytes] = field(default_factory=dict)
    """State at the last look of each compilation that is not ingested in that state."""
    _failures: dict[str, _FailedRead] = field(default_factory=dict)
    _lacking: dict[str, str] = field(default_factory=dict)

    def ready(self, dumps: Sequence[DumpFiles], versions: Mapping[str, object]) -> list[DumpFiles]:
        """Return the new or changed dumps that are complete, judging by their files.

        A dump is complete if its files have the names and versions of the last look, and if it
        has all the kinds of files that other dumps of its folder have. ``versions`` identifies
        the state of the files of each dump, by key.
        """
        states = self._states = {dump.key: _state(dump, versions[dump.key]) for dump in dumps}
        expected = _parts_by_folder(dumps)
        self._lacking.clear()
        ready = []
        for dump in dumps:
            state = states[dump.key]
            if self._done.get(dump.key) == state or not self._is_due(dump.key, state):
                continue
            if lacking := expected[dump.run_path] - _parts(dump):
                self._lacking[dump.key] = ", ".join(sorted(lacking))
            elif self._waiting.get(dump.key) == state:
                ready.append(dump)
        self._waiting = {
            key: state for key, state in states.items() if self._done.get(key) != state
        }
        for gone in self._failures.keys() - states.keys():
            del self._failures[gone]
        return ready

    def done(self, keys: Iterable[str]) -> None:
        """Record that compilations were ingested in the state of this look."""
        for key in keys:
            self._waiting.pop(key, None)
            self._done[key] = self._states[key]
            self._failures.pop(key, None)

    def failed(self, key: str, reason: str) -> None:
        """Record why a compilation was not ingested; the next try is later, or when it changes."""
        last = self._failures.get(key)
        looks = min(2 * last.looks, _MOST_LOOKS_BETWEEN_TRIES) if last else 1
        self._failures[key] = _FailedRead(reason, self._states[key], looks, looks)

    def forget(self, keys: Iterable[str]) -> None:
        """Forget compilations that were removed from the graph."""
        for key in keys:
            self._done.pop(key, None)

    def is_done(self, key: str) -> bool:
        """Return whether a compilation was ingested in any state."""
        return key in self._done

    def held_back(self) -> list[HeldBack]:
        """Return the compilations that are not in the graph in their present state."""
        reasons = dict.fromkeys(self._waiting, "its files were still changing")
        reasons |= {
            key: f"it has no {lacking}, which others of its folder have"
            for key, lacking in self._lacking.items()
        }
        reasons |= {key: failure.reason for key, failure in self._failures.items()}
        return [HeldBack(key, reason) for key, reason in sorted(reasons.items())]

    def _is_due(self, key: str, state: bytes) -> bool:
        failure = self._failures.get(key)
        if failure is None or failure.state != state:
            return True
        failure.left -= 1
        return failure.left <= 0


def _state(dump: DumpFiles, version: object) -> bytes:
    names = [part.path.name for source in dump.sources for part in source.parts]
    return blake2b(f"{names} {version}".encode(errors="replace"), digest_size=16).digest()


def _parts(dump: DumpFiles) -> set[str]:
    return {part.name for source in dump.sources for part in source.parts}


def _parts_by_folder(dumps: Iterable[DumpFiles]) -> Mapping[str, set[str]]:
    """Return the kinds of files that the dumps of each folder have."""
    parts: dict[str, set[str]] = defaultdict(set)
    for dump in dumps:
        parts[dump.run_path] |= _parts(dump)
    return parts
