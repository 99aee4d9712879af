"""VMEM that instructions take while they run, in the forms that XLA prints."""

from xlagraph.hlo.scoped_memory import ScopedMemory, scoped_memory, scoped_memory_of_lines

LIMIT = '"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"4096"}]'
USED = '"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1024"}]'
OF_SMEM = '"used_scoped_memory_configs":[{"memory_space":"4","offset":"0","size":"1024"}]'


def test_the_limit_and_the_use_are_found_in_any_order():
    assert scoped_memory(f"{{{LIMIT},{USED}}}") == ScopedMemory(1024, 4096)
    assert scoped_memory(f'{{{USED},"flag_configs":[]}}') == ScopedMemory(1024, None)


def test_a_limit_alone_counts_for_a_kernel_only():
    assert scoped_memory(f"{{{LIMIT}}}") is None
    assert scoped_memory(f"{{{LIMIT}}}", is_kernel=True) == ScopedMemory(None, 4096)


def test_memory_of_scalars_is_counted_apart():
    assert scoped_memory(f"{{{OF_SMEM}}}") == ScopedMemory(None, None, 1024)


def test_each_line_of_a_module_text_is_searched():
    text = f"  %a = f32[] add(), x={{{USED}}}\n  %b = f32[] add()\n  ROOT c = f32[] d(), {{{USED}}}"
    text += f"\n  %e = f32[] fusion(), {{{LIMIT}}}\n  %g = f32[] custom-call(), {{{LIMIT}}}\n"
    assert [name for name, _ in scoped_memory_of_lines(text)] == ["a", "c", "g"]
