"""Runs as each Python process of a recorded program starts, and gives it a folder for its dumps.

XLA numbers the modules of each process from 0, so that two processes that dump into one folder
overwrite each other. Only the standard library is imported: the process may run another Python
than xlagraph. The folder of this file is the first in PYTHONPATH and leaves `sys.path` at
once; a `sitecustomize` that it hides is imported after it.
"""

import atexit
import contextlib
import json
import os
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDING = "XLAGRAPH_DUMPS"
"""Variable with the recording's folder."""
ADDED = "XLAGRAPH_ADDED_FLAGS"
"""Variable with the flags that the parent of a process added for itself."""
FLAGS = "XLA_FLAGS"
LATEST_WITHOUT_STACKS = (0, 8)
"""Newest jaxlib whose module text has no call stacks; its protobuf has them."""

SCHEDULE = "XLAGRAPH_SCHEDULE"
"""Variable that is `memory` if programs are compiled in the order that saves memory."""
FIRST_WITH_SCHEDULER_TYPE = (0, 11)
"""First jaxlib that is told the type of the scheduler; older ones abort at a flag unknown to them.
0.10 knows both flags."""
FIRST_WITH_GPU_FLAGS = (0, 10)

_facts: "dict[str, object]" = {}


def start_process() -> None:
    """Make XLA dump what this process compiles into a folder for it alone.

    XLA uses the last of several flags with one name. Called again in a process that was forked.
    """
    recording = os.environ.get(RECORDING)
    if not recording:
        return
    _facts.clear()
    _facts.update(pid=os.getpid(), started=time.time(), folder=_new_folder(recording))
    added = " --xla_dump_to=" + _quoted(_own_folder())
    if _lacks_stacks():
        added += " --xla_dump_hlo_as_proto"
    if os.environ.get(SCHEDULE) == "memory":
        added += _memory_flags()
    of_parent = os.environ.get(ADDED, "")
    flags = os.environ.get(FLAGS, "")
    if of_parent and flags.endswith(of_parent):
        flags = flags[: -len(of_parent)]
    os.environ[FLAGS] = flags + added
    os.environ[ADDED] = added
    _write()


def end_process() -> None:
    """Write down what explains a process without dumps."""
    if _facts.get("pid") != os.getpid():
        return
    config = getattr(sys.modules.get("jax"), "config", None)
    _facts.update(
        ended=True,
        frameworks=[name for name in ("jax", "tensorflow", "torch_xla") if name in sys.modules],
        has_flags=_quoted(_own_folder()) in os.environ.get(FLAGS, ""),
        has_cache=bool(
            getattr(config, "jax_enable_compilation_cache", False)
            and getattr(config, "jax_compilation_cache_dir", None)
        ),
    )
    _write()


def write_statistics() -> None:
    """Write JAX's memory analysis of each program that is still loaded next to its dump.

    JAX unloads its programs when the process ends, before `end_process` is called.
    """
    if _facts.get("pid") != os.getpid() or not os.path.isdir(_own_folder()):
        return
    try:
        jax = sys.modules["jax"]
        clients = {id(device.client): device.client for device in jax.local_devices()}
        for client in clients.values():
            for executable in client.live_executables():
                module = executable.hlo_modules()[0]
                number = _module_id(module.as_serialized_hlo_module_proto())
                stated = executable.get_compiled_memory_stats()
                named = {name: getattr(stated, name) for name in dir(stated)}
                numbers = {name: size for name, size in named.items() if type(size) is int}
                _write_next_to(f"*module_{number:04d}.{module.name}.*after_optimizations", numbers)
    except Exception:  # noqa: BLE001, S110  a version of JAX without them: the dumps suffice
        pass


def _write_next_to(stage: str, numbers: "dict[str, int]") -> None:
    import glob

    for ending in ("-buffer-assignment.txt", ".hlo.pb"):
        for path in glob.glob(os.path.join(glob.escape(_own_folder()), stage + ending)):
            _write_whole(path[: -len(ending)] + "-memory-statistics.json", numbers)


def _module_id(message: bytes) -> int:
    """Return the field `id`, number 5, of an HloModuleProto; XLA names its dumps by it."""
    position = 0

    def next_number() -> int:
        nonlocal position
        number = shift = 0
        while True:
            byte = message[position]
            position += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while position < len(message):
        field, kind = divmod(next_number(), 8)
        if kind == 0:
            number = next_number()
            if field == 5:
                return number
        elif kind == 2:
            size = next_number()
            position += size
        else:
            position += 8 if kind == 1 else 4
    return 0


def _own_folder() -> str:
    return str(_facts["folder"])


def _new_folder(recording: str) -> str:
    folder = os.path.join(recording, f"process-{os.getpid()}")
    again = 1
    while os.path.exists(folder):  # the system gave the number of an ended process again
        again += 1
        folder = os.path.join(recording, f"process-{os.getpid()}-{again}")
    return folder


def _lacks_stacks() -> bool:
    """Return True if only protobuf has call stacks: of an older JAX, or of PyTorch/XLA."""
    version = _jaxlib()
    is_old = version is not None and version <= LATEST_WITHOUT_STACKS
    return is_old or _version("torch_xla") is not None


def _memory_flags() -> str:
    """Return the flags of the memory-optimized order on CPUs and GPUs; none without jaxlib."""
    version = _jaxlib()
    if version is None:
        return ""
    if version >= FIRST_WITH_SCHEDULER_TYPE:
        flags = " --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
    else:
        flags = " --xla_cpu_enable_concurrency_optimized_scheduler=false"
    if version >= FIRST_WITH_GPU_FLAGS:
        flags += " --xla_gpu_enable_latency_hiding_scheduler=false"
        flags += " --xla_gpu_enable_analytical_sol_latency_estimator=false"
    return flags


def _jaxlib() -> "tuple[int, ...] | None":
    return _version("jaxlib")


def _version(package: str) -> "tuple[int, ...] | None":
    try:
        from importlib.metadata import version

        return tuple(map(int, version(package).split(".")[:2]))
    except Exception:  # noqa: BLE001  not installed, or a version of another form: the flags stay
        return None


def _quoted(folder: str) -> str:
    """Return a path as the value of a flag, as `recording.quoted` writes it."""
    if not any(character.isspace() or character in "\"'\\" for character in folder):
        return folder
    return '"' + folder.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write() -> None:
    with contextlib.suppress(OSError):  # the recording has ended, and its folder is gone
        _write_whole(_own_folder() + ".json", _facts)


def _write_whole(path: str, facts: "Mapping[str, object]") -> None:
    """Replace a JSON file at once: a pool kills its workers while they write."""
    unfinished = path + ".unfinished"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    os.replace(unfinished, path)


def import_the_hidden() -> None:
    """Import the `sitecustomize` that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this


start_process()
atexit.register(end_process)
if hasattr(threading, "_register_atexit"):  # Python 3.9 and later
    threading._register_atexit(write_statistics)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=start_process)
import_the_hidden()
