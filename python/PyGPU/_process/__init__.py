"""State of the process and of its imports: the interpreter, import hooks, and forked child processes."""
