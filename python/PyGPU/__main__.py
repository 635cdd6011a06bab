"""``python -m PyGPU`` prints what PyGPU found on this machine; its commands time it, and compile kernels ahead."""

from PyGPU._cli.main import main

if __name__ == "__main__":
    main()
