"""The commands of ``python -m PyGPU``; each module implements one command."""
