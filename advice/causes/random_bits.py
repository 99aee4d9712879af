"""Tell loops of a random number generator, which no line of the program writes, from others."""

from xlagraph.advice.causes.peak_values import PeakProgram


def makes_random_bits(program: PeakProgram, name: str) -> bool:
    """Return True for a loop of unsigned integers alone, and for what is in it."""
    known = program.instructions.get(name)
    if known is None:
        return False
    loop = name if known.opcode == "while" else known.loop
    states = [each for each in program.made_by.get(loop or "", ()) if each.dimensions]
    return bool(states) and all((each.dtype or "").startswith("u") for each in states)
