"""Other orders of a program's instructions, and what each costs in memory."""
