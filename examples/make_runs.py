"""Make the example runs again: compile one training step in several ways and keep the dumps.

    python -m pip install -r examples/requirements.txt
    python examples/make_runs.py

The step is compiled, not executed: seconds a run, and no accelerator. The same versions on
another x86 machine write the same bytes; another version of JAX may write another text.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

EXAMPLES: Final = Path(__file__).resolve().parent
RUNS: Final = EXAMPLES / "runs"
KEPT: Final = re.compile(
    r"cpu_after_optimizations(-buffer-assignment|-buffer-assignment-values|-live-range)?\.txt"
)
"""Files to keep: the final module and its memory plan, of about thirty for each module."""

INSTRUCTIONS: Final = "--xla_cpu_max_isa=AVX2"
THREADS: Final = "1"
"""Fixed processor features and threads, for the same plans on every x86 machine."""


class Run(NamedTuple):
    """A run, with its single difference from the baseline."""

    model: dict[str, int | bool]
    donate: bool = False


RUN_BY_NAME: Final = {
    "baseline": Run({}),
    "donated": Run({}, donate=True),
    "remat": Run({"remat": True}),
    "batch2x": Run({"batch": 16}),
    "wide": Run({"width": 1024}),
}


def compile_run(run: Run) -> None:
    """Compile the programs of one run; XLA writes its dumps to the folder in XLA_FLAGS."""
    import jax
    import jax.numpy as jnp

    sys.path.insert(0, str(EXAMPLES))
    import train_step as program

    # source paths as one reads them in the repository, on whatever machine this runs
    jax.config.update(
        "jax_hlo_source_file_canonicalization_regex", re.escape(f"{EXAMPLES.parent}/")
    )
    model = program.Model()._replace(**run.model)
    params = jax.eval_shape(lambda key: program.init_params(key, model), jax.random.key(0))
    state = jax.eval_shape(program.init_adam, params)
    batch = jax.ShapeDtypeStruct((model.batch, model.tokens + 1), jnp.int32)

    donated = ("params", "state") if run.donate else ()
    step = jax.jit(program.train_step_of(model), donate_argnames=donated)
    step.lower(params, state, batch).compile()
    jax.jit(program.loss, static_argnums=2).lower(params, batch, model).compile()


def make_run(name: str) -> None:
    """Compile a run in a separate process, because XLA numbers modules within a process."""
    folder = RUNS / name
    shutil.rmtree(folder, ignore_errors=True)
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_module_re=.*(train_step|loss).* {INSTRUCTIONS}"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "NPROC": THREADS, "XLA_FLAGS": flags}
    subprocess.run([sys.executable, __file__, name], env=environment, check=True)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif not KEPT.search(path.name):
            path.unlink()


def main() -> None:
    """Make all runs; with a name as argument, only compile that run."""
    if len(sys.argv) == 2:
        compile_run(RUN_BY_NAME[sys.argv[1]])
        return
    for name in RUN_BY_NAME:
        print(f"{name} …", flush=True)
        make_run(name)


if __name__ == "__main__":
    main()
