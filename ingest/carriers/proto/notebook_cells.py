"""Names the cells of a notebook whose kernel is this process.

IPython compiles each cell as a file that never exists, such as ``/tmp/ipykernel_7/1234.py``.
"""

import sys
from typing import Final

_CELL_MARKS: Final = ("ipykernel_", "<ipython-input-")


def cell_or_file(file: str) -> str:
    """Return ``In[3]`` for the file of the third cell that ran here; other files unchanged."""
    if not any(mark in file for mark in _CELL_MARKS):
        return file
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return f"In[{numbers[file]}]" if file in numbers else file
