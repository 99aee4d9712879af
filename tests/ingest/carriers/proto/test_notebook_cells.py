"""Lines of a notebook's cells are named by the cell's number."""

import pytest

from xlagraph.ingest.carriers.proto.notebook_cells import cell_or_file


def test_cells_of_this_process_have_their_number():
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell.instance()
    try:
        file = shell.compile.cache("a = 1", 3)
        assert cell_or_file(file) == "In[3]"
        assert cell_or_file("/tmp/ipykernel_1/2.py") == "/tmp/ipykernel_1/2.py"  # another kernel's
        assert cell_or_file("/home/me/train.py") == "/home/me/train.py"
    finally:
        shells.InteractiveShell.clear_instance()
