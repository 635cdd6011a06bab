"""Run ``python -m PyGPU``, whose commands print the configuration, check, measure, or compile ahead of time."""

from PyGPU._cli.main import main

if __name__ == "__main__":
    main()
