"""The function `with_table`, by which scripts of this folder replace a generated table in a Markdown page."""

from pathlib import Path


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
