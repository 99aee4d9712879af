"""References for the measured numbers.

They share only the schema, its indexes and the form of rows with xlagraph.
"""
