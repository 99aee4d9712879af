"""Advise what to change, ranked by what it may save."""

from xlagraph.runtime.imports import allow_imports

allow_imports()  # packing is done with numpy
