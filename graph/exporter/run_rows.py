"""Choice of the row of a run if several are written; the same in one export as in a merge."""

from collections.abc import Mapping

__all__ = ["keep_latest"]


def keep_latest(runs: dict[str, dict[str, object]], run: Mapping[str, object]) -> None:
    """Keep a row of a run if it is the latest: by ``ingestedAt``, then by path and tags."""
    key = str(run["key"])
    if key not in runs or _order(runs[key]) < _order(run):
        runs[key] = dict(run)


def _order(run: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(run[name] or "") for name in ("ingestedAt", "path", "tags"))
