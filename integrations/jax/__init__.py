"""Memory plans of JAX functions, before anything runs: `pip install 'xlagraph[jax]'`.

`memory_plan` compiles a function and returns its plan. `explore` compares variants of it, and
`largest` finds the largest batch or length that fits. `devices_of` returns devices of hardware
that this machine does not have, for a mesh. `watch_compilations` records what other code
compiles, and `resident` returns the arrays that are alive.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.jax.compilation_watch import Watch, watch_compilations
    from xlagraph.jax.compiling import NoPlan
    from xlagraph.jax.exploration import Exploration, ExploredVariant, explore
    from xlagraph.jax.function_plan import FunctionPlan, plan_of_compiled
    from xlagraph.jax.largest_size import LargestSize, largest
    from xlagraph.jax.planning import memory_plan
    from xlagraph.jax.resident_arrays import ResidentArrays, resident
    from xlagraph.jax.target_devices import NoTarget, devices_of

__all__ = [
    "Exploration",
    "ExploredVariant",
    "FunctionPlan",
    "LargestSize",
    "NoPlan",
    "NoTarget",
    "ResidentArrays",
    "Watch",
    "devices_of",
    "explore",
    "largest",
    "memory_plan",
    "plan_of_compiled",
    "resident",
    "watch_compilations",
]

# JAX is imported on first use: the pytest plugin may refer to these names without it.
__getattr__ = lazy_names(__name__)
