"""Operations that wait for what comes next: the mode of a thread, and what became of them."""
