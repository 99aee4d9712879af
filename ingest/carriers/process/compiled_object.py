"""Takes a compilation from what JAX returns, without any file.

`jax.jit(f).lower(…).compile()` holds the buffer assignment in its memory statistics, as a
BufferAssignmentProto (jaxlib 0.6.2 and later) or inside of a HloProto (up to 0.6.0), and the
module, with its schedule, in its executable. JAX itself is never imported.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from xlagraph.ingest.carriers.carrier import Part, Source
from xlagraph.ingest.carriers.proto.read_messages import ASSIGNMENT, HLO, MODULE
from xlagraph.ingest.carriers.wire_format import fields
from xlagraph.ingest.problems.errors import NoMemoryPlan

__all__ = ["PROCESS", "CompiledSource", "compiled_source"]

PROCESS: Final = "process"
_NO_ASSIGNMENT: Final = (
    "{name} does not hold its buffer assignment, like all that is compiled for a GPU or TPU that "
    "is not there; let XLA dump it, and ingest the folder: lowered.compile("
    "compiler_options={{'xla_dump_to': 'DIR', 'xla_dump_hlo_as_text': True}})"
)
_PLATFORMS: Final = {"cuda": "gpu"}
_MODULE_ID: Final = 5
"""Number of that field of an HloModuleProto."""


class CompiledSource(NamedTuple):
    """A compilation of this process."""

    source: Source
    """Its parts are bytes, not files; the stem is ``jit_f(8)``."""
    platform: str | None
    """``cpu``, ``gpu``, ``rocm`` or ``tpu``, where JAX tells."""


def compiled_source(compiled: Any) -> CompiledSource:  # noqa: ANN401 - of any version of JAX
    """Return what a compilation holds of its memory plan.

    Raises TypeError for anything else, and NoMemoryPlan where it holds none.
    """
    try:
        executable = compiled.runtime_executable()
        (module, *_) = executable.hlo_modules()
        statistics = compiled.memory_analysis()
        name, content = module.name, module.as_serialized_hlo_module_proto()
    except (AttributeError, TypeError, ValueError) as error:
        kind = type(compiled).__name__
        message = f"expected what jax.jit(f).lower(…).compile() returns, found {kind}: {error}"
        raise TypeError(message) from None
    whole = getattr(statistics, "serialized_hlo_proto", b"")
    assignment = getattr(statistics, "serialized_buffer_assignment_proto", b"")
    label = Path(f"{name}({_module_id(content)})".replace("/", "_"))
    if whole:
        parts: tuple[Part, ...] = (Part(HLO, label, content=whole),)
    elif assignment:
        parts = Part(MODULE, label, content=content), Part(ASSIGNMENT, label, content=assignment)
    else:
        raise NoMemoryPlan(_NO_ASSIGNMENT.format(name=name))
    platform = getattr(getattr(executable, "client", None), "platform", None)
    return CompiledSource(
        Source(PROCESS, str(label), parts), _PLATFORMS.get(str(platform), platform)
    )


def _module_id(module: bytes) -> int:
    """Return the number that the process gave the module; absent means 0."""
    found = fields(BytesIO(module), 0, len(module))
    return next((each.value or 0 for each in found if each.number == _MODULE_ID), 0)
