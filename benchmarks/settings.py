"""Sizes and folders shared by the sections of the table."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchmarks import inputs
from benchmarks.programs.layer import Sizes


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes and places of one run of the benchmarks."""

    full: bool
    work: Path
    """Folder of inputs and graphs, used by nothing else."""
    repeats: int = 3
    shared: Path | None = None
    """Folder of real dumps, if there is one."""
    against: Path | None = None
    """The command `xlagraph` of another checkout, to measure in turns with this one."""
    loop_megabytes: ClassVar[tuple[float, ...]] = (25, 50, 100)
    """Sizes of the dumps with long lines, in both kinds of run: these are read in seconds."""

    @property
    def folder_values(self) -> tuple[int, ...]:
        """Return the numbers of values of the ingested folders, each twice the one before."""
        return (250_000, 500_000, 1_000_000) if self.full else (25_000, 50_000, 100_000)

    @property
    def step_layers(self) -> tuple[int, ...]:
        """Return the numbers of layers of the single dumps with short lines."""
        return (160, 320, 640, 1280) if self.full else (20, 40, 80, 160)

    @property
    def server_values(self) -> int:
        """Return the number of values of the folder whose ingest into Neo4j is timed."""
        return 200_000 if self.full else 50_000

    @property
    def import_values(self) -> int:
        """Return the number of values of the folder that is exported and imported into Neo4j."""
        return 500_000 if self.full else 100_000

    @property
    def fleet_compilations(self) -> tuple[int, ...]:
        """Return the numbers of compilations of the fleets that are imported into Neo4j."""
        return (1_000, 10_000, 100_000) if self.full else (1_000, 2_000, 4_000)

    @property
    def live_values(self) -> tuple[int, int]:
        """Return the numbers of values that are live together where growth is measured."""
        return (10_000, 100_000) if self.full else (1_000, 10_000)

    def wide_peak(self, live: int) -> Path:
        """Return a folder with a program whose values are live together, written on first use."""
        return self._written(f"peak-{live}", lambda folder: inputs.write_wide_peak(folder, live))

    def training_folder(self, values: int, values_each: int = 5000) -> Path:
        """Return a folder of training steps, written on first use."""
        return self._written(
            f"steps-{values}-{values_each}",
            lambda folder: inputs.write_training_folder(folder, values, values_each),
        )

    def training_step(self, layers: int, module_id: int = 1) -> Path:
        """Return a folder with one training step, written on first use."""
        return self._written(
            f"step-{layers}-{module_id}",
            lambda folder: inputs.write_training_step(folder, layers, module_id, Sizes(batch=24)),
        )

    def wide_loop(self, megabytes: float) -> Path:
        """Return a folder with one wide loop, written on first use."""
        return self._written(
            f"loop-{megabytes:g}", lambda folder: inputs.write_wide_loop(folder, megabytes)
        )

    def fresh(self, name: str) -> Path:
        """Return an unused path in our folder; earlier content is removed."""
        path = self.work / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return path

    def _written(self, name: str, write: Callable[[Path], object]) -> Path:
        folder = self.work / name
        if not folder.exists():
            unfinished = self.fresh(f"{name}.new")
            write(unfinished)
            unfinished.rename(folder)
        return folder

    def dumps(self, name: str) -> Path | None:
        """Return a folder of real dumps, if there is one."""
        folder = self.shared / name if self.shared else None
        return folder if folder is not None and folder.exists() else None


def dump_parts(folder: Path) -> list[Path]:
    """Return the files of the only dump in a folder, without the module text."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.endswith(("-buffer-assignment.txt", "-values.txt", "-live-range.txt"))
    )
