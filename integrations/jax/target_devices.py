"""Devices that this machine does not have; the compiler can still compile for them."""

import os
from collections.abc import Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xlagraph.jax.gpu_configurations import GPU_CONFIGURATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import jax

_CUDA_PLUGINS: Final = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12")
_SKIPS_CUDA_CHECK: Final = "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"
_ALLOWS_OTHER_PROCESSES: Final = "ALLOW_MULTIPLE_LIBTPU_LOAD"
"""Libtpu refuses a second process, as for a TPU; a description of one needs no TPU."""


class NoTarget(ValueError):
    """A topology is unknown or its compiler is not installed; the message says what to install."""


def devices_of(topology: str | Path) -> "Sequence[jax.Device]":
    """Return the devices of a topology, for example for a mesh; the same objects at every call.

    ``v5e:2x4`` is a slice of TPUs, named as in `jax.experimental.topologies`. ``h100`` or ``a100``
    is a GPU, ``h100:8`` eight of them on one host. The path of a `gpu_target_config.pbtxt` that XLA
    dumped is a GPU, too. Raises NoTarget, which says what to install.
    """
    return _devices(str(topology))


@lru_cache
def _devices(topology: str) -> "tuple[jax.Device, ...]":
    name, _, count = topology.partition(":")
    configuration = GPU_CONFIGURATIONS.get(name.lower())
    if configuration is not None:
        if count and not count.isdecimal():
            raise NoTarget(f"expected a number of GPUs as in {name}:8, found {topology!r}")
        return _gpus(configuration, int(count or 1))
    if Path(topology).is_file():
        return _gpus(Path(topology).read_text(encoding="utf-8"), 1)
    return _tpus(topology)


def _tpus(topology: str) -> "tuple[jax.Device, ...]":
    from jax.experimental.topologies import get_topology_desc

    try:
        with _set_variable(_ALLOWS_OTHER_PROCESSES, "1"):
            return tuple(get_topology_desc(topology, "tpu").devices)
    except RuntimeError as error:
        names = ", ".join(GPU_CONFIGURATIONS)
        raise NoTarget(
            f"{topology!r} is not one of {names}, not a file, and not a TPU that can be compiled"
            f" for: {str(error).strip().partition(chr(10))[0]}. TPUs need pip install libtpu"
        ) from error


def _gpus(configuration: str, count: int) -> "tuple[jax.Device, ...]":
    import jax
    from jax.experimental.topologies import get_topology_desc

    options: dict[str, Any] = {"target_config": configuration, "topology": f"1x1x{count}"}
    # before the plugin is registered: JAX would fail to initialize it without its hardware
    jax.local_devices()
    try:
        return tuple(get_topology_desc("", "cuda", **options).devices)
    except NotImplementedError:
        _register_cuda_plugin()
    return tuple(get_topology_desc("", "cuda", **options).devices)


def _register_cuda_plugin() -> None:
    """Register the compiler for CUDA, which needs no CUDA library."""
    for name in _CUDA_PLUGINS:
        try:
            plugin = import_module(name)
        except ModuleNotFoundError:
            continue
        with _set_variable(_SKIPS_CUDA_CHECK, "1"):
            plugin.initialize()
        return
    raise NoTarget(
        "the compiler for NVIDIA GPUs is not installed: pip install jax-cuda13-plugin"
        " jax-cuda13-pjrt, or those for CUDA 12, in the same version as jaxlib"
    )


@contextmanager
def _set_variable(name: str, value: str) -> "Iterator[None]":
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
