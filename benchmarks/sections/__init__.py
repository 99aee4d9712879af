"""What is measured: one module for each section of the table."""
