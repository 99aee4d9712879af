"""The arrays of this process that are alive."""

import jax
import numpy as np

from xlagraph.advice.device_memory import read_snapshot
from xlagraph.jax import resident


def test_live_arrays_have_their_shape_and_bytes_on_each_device(tmp_path):
    before = resident().bytes_by_device().get("cpu:0", 0)
    held = jax.device_put(np.ones((3, 17), np.int16)), jax.device_put(np.ones((19,), bool))
    found = resident()
    assert found.bytes_by_device()["cpu:0"] == before + 3 * 17 * 2 + 19
    shapes = {each.shape: each.bytes for each in found.arrays}
    assert (shapes["s16[3,17]"], shapes["pred[19]"]) == (102, 19)
    assert repr(found).startswith("live arrays: cpu:0: ")
    found.write(tmp_path / "live.json")
    assert set(read_snapshot(tmp_path / "live.json")) == set(found.arrays)
    del held
