"""``python -m PyGPU`` prints what PyGPU found on this machine."""

from PyGPU import show_config

if __name__ == "__main__":
    show_config()
