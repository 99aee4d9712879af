"""Other orders of the instructions of a program, and what each costs in memory."""
