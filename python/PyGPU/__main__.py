"""Run the command line of ``python -m PyGPU``: print the configuration, check, measure, or compile ahead of time."""

from PyGPU._cli.main import main

if __name__ == "__main__":
    main()
