"""XLA's memory plans as a property graph; `%load_ext xlagraph` adds `%%xla_memory` to IPython."""

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Add `%%xla_memory` to a shell of IPython."""
    from xlagraph.jax.cell_magic import show_cell_memory

    register: Any = shell.register_magic_function
    register(partial(show_cell_memory, shell), "cell", "xla_memory")
