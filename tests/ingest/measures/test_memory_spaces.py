import pytest

from xlagraph.hlo.shapes import parse_shape
from xlagraph.ingest.measures.memory_spaces import memory_space_names
from xlagraph.ingest.plan import Plan, Value


def plan_of(shape: str) -> Plan:
    value = Value(0, "a", None, False, 0, 0, 0, 4, parse_shape(shape))
    return Plan((), (value,), 4, None, None)


TPU = plan_of("f32[8]{0:T(128)}")
OTHER = plan_of("f32[8]{0}")


@pytest.mark.parametrize(
    ("color", "name"),
    [
        (0, "HBM"),
        (1, "VMEM"),
        (2, "sync flag"),
        (3, "CMEM"),
        (4, "SMEM"),
        (5, "host"),
        (6, "workspace register"),
        (7, "SparseCore private stack HBM"),
        (8, "SparseCore semaphore"),
        (9, "pinned HBM"),
        (10, None),
    ],
)
def test_memory_spaces_of_a_tpu_have_the_names_of_xprof(color, name):
    assert memory_space_names(TPU, is_gpu=False).get(color) == name


def test_memory_space_1_of_a_gpu_is_collective_memory():
    assert memory_space_names(OTHER, is_gpu=True) == {1: "collective memory", 5: "host"}


def test_elsewhere_only_the_memory_of_the_host_has_a_name():
    assert memory_space_names(OTHER, is_gpu=False) == {5: "host"}
