"""Allocation of device memory, also by allocators of other libraries, and copies from and to host buffers."""
