"""The virtual environment of the libraries whose programs are compiled."""

import os
import subprocess
import sys
import venv
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def python_of(folder: Path) -> Path:
    """Return the Python of an environment with the libraries, made on first use."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", REQUIREMENTS], check=True)
    return python


def compile_variants(python: Path, name: str, folder: Path, topology: str | None = None) -> None:
    """Compile the variants of a program into a folder; a variant that fails is reported."""
    flags = "--xla_force_host_platform_device_count=8"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "NPROC": "1", "XLA_FLAGS": flags}
    environment |= {"PYTHONPATH": str(TREE), "KERAS_BACKEND": "jax", "PYTHONWARNINGS": "ignore"}
    command: list[str | Path] = [python, "-m", "benchmarks.accuracy.compile_program", name, folder]
    command += [] if topology is None else [topology]
    subprocess.run(command, env=environment, check=True, stdout=sys.stderr)


def versions(python: Path) -> str:
    """Return the versions of the compiled libraries."""
    command: list[str | Path] = [python, "-m", "pip", "freeze"]
    frozen = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    named = {line.partition("=")[0] for line in REQUIREMENTS.read_text("utf-8").splitlines()}
    wanted = {name.partition(">")[0].strip() for name in named}
    kept = (
        line.replace("==", " ") for line in frozen.splitlines() if line.partition("==")[0] in wanted
    )
    return ", ".join(kept)
