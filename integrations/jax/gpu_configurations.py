"""Target configurations of GPUs, which XLA's compiler reads instead of asking a device.

They contain the limits that a device reports. XLA dumps a more complete file,
`module_….gpu_target_config.pbtxt`, on a machine with the GPU; its path may replace the name.
"""

from typing import Final, NamedTuple


class _Device(NamedTuple):
    description: str
    capability: int
    multiprocessors: int
    float_units_per_multiprocessor: int
    shared_bytes_per_multiprocessor: int
    shared_bytes_per_block: int
    l2_bytes: int
    memory_bytes: int
    bytes_per_second: int
    clock_ghz: float


_DEVICES: Final = {
    "a100": _Device(
        "NVIDIA A100-SXM4-80GB", 8, 108, 64, 167936, 166912, 41943040, 85100068864,
        2039040000000, 1.41,
    ),
    "h100": _Device(
        "NVIDIA H100 80GB HBM3", 9, 132, 128, 233472, 232448, 52428800, 84942979072,
        3352320000000, 1.98,
    ),
}  # fmt: skip


def _configuration(device: _Device) -> str:
    return f"""
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {device.shared_bytes_per_multiprocessor}
  threads_per_core_limit: 2048
  core_count: {device.multiprocessors}
  fpus_per_core: {device.float_units_per_multiprocessor}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {device.bytes_per_second}
  l2_cache_size: {device.l2_bytes}
  clock_rate_ghz: {device.clock_ghz}
  device_memory_size: {device.memory_bytes}
  shared_memory_per_block_optin: {device.shared_bytes_per_block}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  cuda_compute_capability {{ major: {device.capability} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
device_description_str: "{device.description}"
"""


GPU_CONFIGURATIONS: Final = {name: _configuration(device) for name, device in _DEVICES.items()}
"""Target configurations by the name that is given as a topology."""
