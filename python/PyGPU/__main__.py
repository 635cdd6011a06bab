"""Run the command line of ``python -m PyGPU``: configuration, benchmarks, and compilation ahead of time."""

from PyGPU._cli.main import main

if __name__ == "__main__":
    main()
