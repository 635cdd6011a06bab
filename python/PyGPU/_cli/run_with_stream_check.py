"""Run ``python run_with_stream_check.py FILE program.py arguments``: write the stream check's reports into FILE.

``python -m PyGPU check --streams`` runs this file in a separate process with ``PYGPU_CHECK_STREAMS=1``.
"""

import runpy
import sys
from pathlib import Path

END = "\0"


def read(file: Path) -> list[str]:
    """Return the reports in a file without duplicates; return an empty list if the file does not exist.

    Parameters
    ----------
    file : Path
        The file that `main` wrote.

    Returns
    -------
    list of str
    """
    if not file.exists():
        return []
    return list(dict.fromkeys(file.read_text(errors="replace").split(END)[:-1]))


def main() -> None:
    """Run the program as ``python program.py`` does, and write each report to the file as soon as it is made."""
    report_file, program = Path(sys.argv[1]), sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(program).resolve().parent)
    from PyGPU._cli.broken_pipe import quiet_end
    from PyGPU._streams import stream_check

    with quiet_end(), report_file.open("a", errors="backslashreplace") as file:

        def write(report: str) -> None:
            file.write(report + END)
            file.flush()

        stream_check.listener = write
        try:
            runpy.run_path(program, run_name="__main__")
        finally:
            stream_check.listener = None


if __name__ == "__main__":
    main()
