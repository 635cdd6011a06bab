"""Provide what depends on the installed packages: the version of NumPy, and packages that tests hide."""
