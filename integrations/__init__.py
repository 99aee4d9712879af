"""IPython extension: `%load_ext xlagraph` adds the cell magic `%%xla_memory`."""

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Add `%%xla_memory` to an IPython shell."""
    from xlagraph.jax.cell_magic import show_cell_memory

    register: Any = shell.register_magic_function
    register(partial(show_cell_memory, shell), "cell", "xla_memory")
