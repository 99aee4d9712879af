"""What the numbers are compared with; it shares no code with what they judge."""
