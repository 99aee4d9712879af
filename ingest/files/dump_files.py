"""Names and sizes of files that may not exist on disk yet, such as remote files."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["Listing"]


class Listing:
    """The names and sizes of the files below a folder."""

    def __init__(self, files: Iterable[tuple[Path, int]]) -> None:
        """Create a listing from paths with sizes in bytes."""
        self._sizes: dict[str, dict[str, int]] = defaultdict(dict)
        for path, size in files:
            self._sizes[str(path.parent)][path.name] = size

    def folders(self, root: Path) -> Iterator[tuple[Path, list[str]]]:
        """Yield each folder that has files, with their names; both sorted."""
        for folder in sorted(self._sizes, key=lambda folder: Path(folder).parts):
            if Path(folder).is_relative_to(root):
                yield Path(folder), sorted(self._sizes[folder])

    def holds(self, path: Path) -> bool:
        """Return whether a path is a file of the listing."""
        return path.name in self._sizes.get(str(path.parent), ())

    def size_bytes(self, path: Path) -> int:
        """Return a file's size; 0 if it is not in the listing."""
        return self._sizes.get(str(path.parent), {}).get(path.name, 0)
