"""Keep the results of a function of a compilation, for all who hold the compilation."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from xlagraph.planner.compilation.stored_compilation import StoredCompilation

Others = ParamSpec("Others")
Found = TypeVar("Found")


def kept(
    function: Callable[Concatenate[StoredCompilation, Others], Found],
) -> Callable[Concatenate[StoredCompilation, Others], Found]:
    """Run a function once for each compilation and choice of the other arguments.

    The function has no defaults: a call that leaves one out would run it again.
    """
    results: WeakKeyDictionary[StoredCompilation, dict[object, Found]] = WeakKeyDictionary()

    @wraps(function)
    def found(stored: StoredCompilation, /, *args: Others.args, **kwargs: Others.kwargs) -> Found:
        known = results.setdefault(stored, {})
        asked = (args, tuple(kwargs.items()))
        if asked not in known:
            known[asked] = function(stored, *args, **kwargs)
        return known[asked]

    return found
