"""Decide which dumps of an ingest are prepared, how, and which stored compilations are gone."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from xlagraph.graph.engine import CompilationDigest, StoredRun
from xlagraph.ingest.files.contents import FileStates
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.loading.fetching import Fetcher
from xlagraph.ingest.loading.job import PreparationJob
from xlagraph.ingest.options import IngestOptions

_BYTES_WORTH_A_PROCESS: Final = 2 * 2**20
"""Size of a dump that takes as long to prepare as a process takes to start."""
_BYTES_WORTH_THEIR_MEMORY: Final = 32 * 2**20
"""Size from which a single dump is prepared in another process, to free its memory."""
_READING_SHARE: Final = 16
"""Ratio of the time to prepare a dump to the time to read and compare it."""


@dataclass(frozen=True, slots=True)
class PendingIngest:
    """The dumps to ingest, with all that decides how."""

    dumps: Sequence[DumpFiles]
    stored: Mapping[str, StoredRun]
    digests: Mapping[str, str | None]
    """Digests of the dumps that were read already, by key."""
    searched: frozenset[str]
    options: IngestOptions
    processes: int | None
    """Number of processes requested; None for one on each processor."""
    fetcher: Fetcher | None = None
    expected: Mapping[str, FileStates] | None = None
    run_paths: Mapping[str, str] = field(default_factory=dict)
    """First folder of each new run."""

    def tags(self, run: str) -> tuple[str, ...]:
        """Return a run's tags after the ingest, each ``name=value``."""
        return self.options.tags_of_run(self.stored[run].tags if run in self.stored else ())

    def run_path(self, dump: DumpFiles) -> str | None:
        """Return the first folder of a dump's run; None if it is the dump's folder."""
        is_new = self.options.replace or dump.run not in self.stored
        return self.run_paths.get(dump.run) if is_new else self.stored[dump.run].path

    def stored_compilation(self, dump: DumpFiles) -> CompilationDigest | None:
        """Return the stored compilation with a dump's key; None if there is none."""
        run = self.stored.get(dump.run)
        return None if run is None else run.compilations.get(dump.key)

    def unchanged_sha256(self, dump: DumpFiles) -> str | None:
        """Return the digest with which a dump is unchanged and need not be written.

        None if no compilation of its key and level of detail is stored, or if the stored one is
        from a folder that this one replaces.
        """
        stored = self.stored_compilation(dump)
        if stored is None or stored.detail != self.options.detail:
            return None
        if self.options.replace and stored.path != dump.run_path:
            return None
        return stored.sha256

    def is_known_unchanged(self, dump: DumpFiles) -> bool:
        """Return whether a dump was read already and has the stored content."""
        sha256 = self.unchanged_sha256(dump)
        return sha256 is not None and self.digests.get(dump.key) == sha256

    def jobs(self, dumps: Iterable[DumpFiles]) -> list[PreparationJob]:
        """Return what to prepare of some dumps, in their order."""
        now = (self.options.ingested_at or ingest_time()).isoformat(timespec="seconds")
        return [
            PreparationJob(
                dump,
                now,
                self.tags(dump.run),
                self.unchanged_sha256(dump),
                self.run_path(dump),
                self.options.detail,
                expected=None if self.expected is None else self.expected.get(dump.key, ()),
                categories=self.options.categories,
                snapshots=self.stored[dump.run].snapshots if dump.run in self.stored else (),
            )
            for dump in dumps
        ]

    def process_count(self, dumps: Sequence[DumpFiles]) -> int:
        """Return the number of processes: at most those requested, and no more than save time."""
        wanted = self.processes
        if wanted is None:
            has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS
            wanted = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
        size_bytes = sum(
            # a stored dump has most likely not changed, and is only read
            dump.size_bytes // (1 if self.stored_compilation(dump) is None else _READING_SHARE)
            for dump in dumps
        )
        worth = _BYTES_WORTH_A_PROCESS if len(dumps) > 1 else _BYTES_WORTH_THEIR_MEMORY
        return min(wanted, 1 + size_bytes // worth)

    def gone(self) -> list[str]:
        """Return the keys of compilations of searched runs whose files were not found."""
        moved = set(self.moved())
        return [key for key in self._not_found() if key not in moved]

    def moved(self) -> list[str]:
        """Return the stored keys of compilations whose dumps now have another key.

        A dump's key in XLA's ``NAME/HOST_PID/`` folder contains that folder only if another
        dump has the same stem.
        """
        other_keys = {dump.other_key for dump in self.dumps}
        return [key for key in self._not_found() if key in other_keys]

    def _not_found(self) -> list[str]:
        """Return the stored keys of searched runs for which no dump was found.

        Keys that were ingested from another folder count only if this folder replaces it.
        """
        found = {dump.key for dump in self.dumps}
        paths = {(dump.run, dump.run_path) for dump in self.dumps}
        return [
            key
            for run, path in sorted(paths)
            if run in self.stored and path in self.searched
            for key, compilation in self.stored[run].compilations.items()
            if key not in found and (self.options.replace or path == compilation.path)
        ]


def first_paths(dumps: Iterable[DumpFiles]) -> Mapping[str, str]:
    """Return one folder for each run of some dumps, the same in all shards."""
    paths: dict[str, str] = {}
    for dump in dumps:
        paths[dump.run] = min(paths.get(dump.run, dump.run_path), dump.run_path)
    return paths


def ingest_time() -> datetime:
    """Return the time of an ingest that begins now.

    It is SOURCE_DATE_EPOCH (seconds) if that is set, so that exports can be reproduced.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
