"""Released versions of a package, and environments with one of them, by uv or pip.

Environments are kept in the user's cache folder: the second bisection over the same versions
installs nothing.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xlagraph.ingest.problems.errors import NotInstallable, VersionUnknown

__all__ = ["Installer", "environment_folder", "environment_variables", "find_installer"]

_VERSIONS: Final = "Available versions:"
_COMPLETE: Final = "xlagraph-complete"
"""An empty file in an environment into which everything was installed."""


@dataclass(frozen=True, slots=True)
class Installer:
    """A Python that environments are made with, and the tools that fill them."""

    python: str
    """Path of the interpreter."""
    uv: str | None
    """Path of uv; None if pip has to do its work."""
    pip: tuple[str, ...]
    """The command that runs pip."""

    def released_versions(self, package: str) -> tuple[str, ...]:
        """Return the versions that the index has for this Python, oldest first.

        Pre-releases are left out. Raises VersionUnknown if the index cannot be asked or does not
        know the package.
        """
        other = [] if self.python == sys.executable else ["--python", self.python]
        asked = _run([*self.pip, *other, "index", "versions", package])
        line = next((line for line in asked.stdout.splitlines() if _VERSIONS in line), None)
        if line is None:
            raise VersionUnknown(f"no versions of {package} found: {_last_line(asked.stderr)}")
        return tuple(reversed(line.partition(_VERSIONS)[2].replace(",", " ").split()))

    def install(self, requirements: Sequence[str], files: Sequence[Path]) -> Path:
        """Return an environment with these requirements and files of requirements.

        One that is in the cache is used again. Raises NotInstallable, with the installer's last
        line, if something cannot be installed.
        """
        folder = environment_folder(self.python, requirements, files)
        if (folder / _COMPLETE).exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        wanted = [*requirements, *(word for file in files for word in ("-r", str(file)))]
        python = str(folder / "bin" / "python")
        if self.uv is not None:
            commands = [
                [self.uv, "venv", "--quiet", "--no-project", "--python", self.python, str(folder)],
                [self.uv, "pip", "install", "--quiet", "--python", python, *wanted],
            ]
        else:
            commands = [
                [self.python, "-m", "venv", "--without-pip", str(folder)],
                [*self.pip, "--python", python, "install", "--quiet", *wanted],
            ]
        for command in commands:
            done = _run(command)
            if done.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                raise NotInstallable(_last_line(done.stderr))
        (folder / _COMPLETE).touch()
        return folder


def find_installer(python: str | None) -> Installer:
    """Return the installer that this machine has, for a Python by path or by version.

    Without one it is the Python of this process. Raises NotInstallable if that Python, or both
    uv and pip, are not found.
    """
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip"):
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    elif uv is not None:
        pip = (uv, "tool", "run", "pip")
    else:
        raise NotInstallable("expected uv on PATH or pip in this environment, found neither")
    if python is None:
        return Installer(sys.executable, uv, pip)
    found = shutil.which(python) or shutil.which(f"python{python}")
    if found is None and uv is not None:
        found = _run([uv, "python", "find", python]).stdout.strip() or None
    if found is None:
        raise NotInstallable(f"no Python {python} found; name one by its path")
    return Installer(found, uv, pip)


def environment_folder(python: str, requirements: Sequence[str], files: Sequence[Path]) -> Path:
    """Return where the environment of these requirements is kept; it need not be there.

    The name ends in a digest of all that decides its content. Raises OSError if a file of
    requirements cannot be read.
    """
    digest = hashlib.sha256(repr((python, *requirements)).encode())
    for file in files:
        digest.update(file.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = f"{requirements[0].replace('==', '-')}-{digest.hexdigest()[:12]}"
    return cache / "xlagraph" / "environments" / name


def environment_variables(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make a virtual environment the active one."""
    path = os.pathsep.join(filter(None, (str(folder / "bin"), environment.get("PATH"))))
    return {"PATH": path, "VIRTUAL_ENV": str(folder)}


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  the user's own installer
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"
