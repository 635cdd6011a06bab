"""The version of PyCUDA whose names PyGPU provides."""

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS
