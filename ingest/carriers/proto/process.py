"""Read a compilation from the object that JAX returns, without any file.

The object is the result of `jax.jit(f).lower(…).compile()`. Its memory statistics contain the
buffer assignment, as a BufferAssignmentProto (jaxlib 0.6.2 and later) or inside an HloProto (up
to 0.6.0). Its executable contains the module with its schedule. JAX is never imported.
"""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from xlagraph.hlo.descriptor_sets import missing_protobuf
from xlagraph.ingest.carriers.carrier import Carrier, Part, Source
from xlagraph.ingest.carriers.memory_statistics import STATISTICS, statistics_content
from xlagraph.ingest.carriers.proto.read_messages import (
    ASSIGNMENT,
    HLO,
    MODULE,
    VERSION,
    read_proto_dump,
)
from xlagraph.ingest.carriers.wire_format import fields
from xlagraph.ingest.errors import NoMemoryPlan

_PROCESS: Final = "process"
_NO_ASSIGNMENT: Final = (
    "{name} has no buffer assignment, like every program compiled for a GPU or TPU that is not "
    "present; let XLA dump it, and ingest the folder: lowered.compile("
    "compiler_options={{'xla_dump_to': 'DIR', 'xla_dump_hlo_as_text': True}})"
)
_PLATFORMS: Final = {"cuda": "gpu"}
_MODULE_ID: Final = 5
"""Number of the field ``id`` of an HloModuleProto."""


class CompiledSource(NamedTuple):
    """A compilation of this process."""

    source: Source
    """Source whose parts are bytes, not files; its stem is ``jit_f(8)``."""
    platform: str | None
    """Platform: ``cpu``, ``gpu``, ``rocm`` or ``tpu``; None if JAX does not state it."""


def compiled_source(compiled: Any) -> CompiledSource:  # noqa: ANN401 - an object of any JAX version
    """Return the source of a compiled JAX function.

    Raises TypeError for any other object, and NoMemoryPlan if it has no memory plan.
    """
    try:
        executable = compiled.runtime_executable()
        (module, *_) = executable.hlo_modules()
        statistics = compiled.memory_analysis()
        name, content = module.name, module.as_serialized_hlo_module_proto()
    except (AttributeError, TypeError, ValueError) as error:
        kind = type(compiled).__name__
        message = f"expected the result of jax.jit(f).lower(…).compile(), found {kind}: {error}"
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
    version = getattr(sys.modules.get("jaxlib"), "__version__", "")
    parts = (
        *parts,
        Part(STATISTICS, label, content=statistics_content(statistics)),
        Part(VERSION, label, content=version.encode()),
    )
    platform = getattr(getattr(executable, "client", None), "platform", None)
    return CompiledSource(
        Source(_PROCESS, str(label), parts), _PLATFORMS.get(str(platform), platform)
    )


def _module_id(module: bytes) -> int:
    """Return the module's number in its process; 0 if it is absent."""
    found = fields(BytesIO(module), 0, len(module))
    return next((each.value or 0 for each in found if each.number == _MODULE_ID), 0)


PROCESS_CARRIER: Final = Carrier(_PROCESS, lambda *_: [], read_proto_dump, missing_protobuf)
