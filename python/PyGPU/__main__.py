"""``python -m PyGPU`` prints what PyGPU found on this machine; ``python -m PyGPU bench`` how quick it is here."""

from PyGPU._cli.main import main

if __name__ == "__main__":
    main()
