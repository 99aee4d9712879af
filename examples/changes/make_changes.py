"""Compile the programs of `programs.py` before and after their change, and pack their dumps.

    python -m pip install -r examples/changes/requirements.txt
    python examples/changes/make_changes.py

They are compiled for CPU but not executed. This takes a minute and needs no accelerator.
"""

import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent
ARCHIVE: Final = FOLDER / "dumps.tar.xz"
KEPT: Final = re.compile(
    r"module_\d+\.jit_(?P<name>\w+?)__(?P<side>before|after)\."
    r"(?P<rest>cpu_after_optimizations(?:-buffer-assignment|-buffer-assignment-values"
    r"|-live-range)?\.txt)"
)


def named(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of this name, which XLA uses for the module."""

    def step(*arguments: object) -> object:
        return function(*arguments)

    step.__name__ = name
    return step


def compile_all() -> None:
    """Compile every program; XLA_FLAGS says where XLA writes its dumps."""
    import jax

    sys.path.insert(0, str(FOLDER))
    from programs import changes

    root = re.escape(f"{FOLDER.parents[1]}/")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", root)
    for name, change in changes().items():
        for side, program in zip(("before", "after"), change, strict=True):
            step = named(f"{name}__{side}", program.function)
            jax.jit(step, donate_argnums=program.donate).lower(*program.arguments).compile()


def pack(dumped: Path) -> bytes:
    """Return a tar of the dumps, a folder for each side of a change, without times and owners."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(dumped.iterdir()):
            if (kept := KEPT.fullmatch(path.name)) is None:
                continue
            text = path.read_bytes()
            name = f"{kept['side']}/module_0000.jit_{kept['name']}.{kept['rest']}"
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return written.getvalue()


def main() -> None:
    """Make the archive, or, in the process that compiles, only compile."""
    if sys.argv[1:] == ["compile"]:
        compile_all()
        return
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--xla_dump_to={folder} --xla_cpu_max_isa=AVX2"
        flags += " --xla_force_host_platform_device_count=8"
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "NPROC": "1", "XLA_FLAGS": flags}
        subprocess.run([sys.executable, __file__, "compile"], env=environment, check=True)
        packed = lzma.compress(pack(Path(folder)), preset=9 | lzma.PRESET_EXTREME)
    ARCHIVE.write_bytes(packed)
    print(f"{ARCHIVE.name}: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
