"""What arrays are, and not what is in them: types and places in memory; numbers that lose a part."""
