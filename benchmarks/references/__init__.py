"""References for the measured numbers.

It shares only the schema, its indexes and the form of rows with what they judge.
"""
