"""Elements put in, taken out and written over; bits of bytes."""
