"""Functions of this folder's scripts: `with_table` replaces a table in a Markdown page, `escaped` escapes a text."""

import re
from pathlib import Path


def escaped(text: str) -> str:
    """Return a line of a docstring for Markdown, which would print the text between two powers ``2**x`` in bold."""
    return re.sub(r"(`[^`]*`)|\*\*", lambda found: found[1] or r"\*\*", text)


def with_table(page: Path, script: str, table: str) -> str:
    """Return the text of a page with a new table between the two comments that mark a script's table.

    Parameters
    ----------
    page : Path
        Page that contains both comments.
    script : str
        Path of the script, which the first comment names.
    table : str
        Text of the table.

    Raises
    ------
    ValueError
        If the page does not contain each comment exactly once, in order.
    """
    begin, end = f"<!-- written by docs/{Path(script).name} -->\n", "<!-- end -->\n"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table.rstrip()}\n\n{end}{after}"
