"""How large and how often: what the sections of the table share."""

from dataclasses import dataclass
from pathlib import Path

import generate
from layer import Sizes


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes and places of one run of the benchmarks."""

    full: bool
    work: Path
    """Inputs and graphs go there; nobody else's folder."""
    repeats: int = 3
    shared: Path | None = None
    """Folder of real dumps, where there is one."""

    @property
    def folder_values(self) -> tuple[int, ...]:
        """Values of the folders that are ingested, doubled from one to the next."""
        return (250_000, 500_000, 1_000_000) if self.full else (25_000, 50_000, 100_000)

    @property
    def step_layers(self) -> tuple[int, ...]:
        """Layers of the single dumps with short lines."""
        return (160, 320, 640, 1280) if self.full else (20, 40, 80, 160)

    @property
    def loop_megabytes(self) -> tuple[float, ...]:
        """Sizes of the dumps with long lines."""
        return (25, 50, 100)

    @property
    def server_values(self) -> int:
        """Values of the folder that is ingested into Neo4j and timed."""
        return 200_000 if self.full else 50_000

    def training_folder(self, values: int, values_each: int = 5000) -> Path:
        """Give a folder of training steps, written on first use."""
        folder = self.work / f"steps-{values}-{values_each}"
        if not folder.exists():
            generate.write_training_folder(folder, values, values_each)
        return folder

    def training_step(self, layers: int, module_id: int = 1) -> Path:
        """Give a folder with one training step, written on first use."""
        folder = self.work / f"step-{layers}-{module_id}"
        if not folder.exists():
            generate.write_training_step(folder, layers, module_id, Sizes(batch=24))
        return folder

    def wide_loop(self, megabytes: float) -> Path:
        """Give a folder with one wide loop, written on first use."""
        folder = self.work / f"loop-{megabytes:g}"
        if not folder.exists():
            generate.write_wide_loop(folder, megabytes)
        return folder

    def dumps(self, name: str) -> Path | None:
        """Give a folder of real dumps, where there is one."""
        folder = self.shared / name if self.shared else None
        return folder if folder is not None and folder.exists() else None


def dump_parts(folder: Path) -> list[Path]:
    """List the files of the one dump in a folder, the module text left out."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.endswith(("-buffer-assignment.txt", "-values.txt", "-live-range.txt"))
    )
