"""Arrays made of values, of numbers in steps, and of files."""
