"""Write the figures of docs/howto/fast.md and of the gallery, and docs/speed.svg, from the files in docs/results.

Run as ``python docs/make_figures.py``; ``tests/repository/test_readme_claims.py`` checks the files.
"""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from make_performance import MIB, ROOT, Transfers, made_on, read, report, write

GUIDE = ROOT / "docs" / "howto" / "fast.md"
GALLERY = ROOT / "examples" / "GALLERY_HEADER.rst"
PICTURE = ROOT / "docs" / "speed.svg"
BEGIN, END = "<!-- Written by docs/make_figures.py. -->\n", "<!-- As far as here. -->\n"
RST_BEGIN, RST_END = ".. Written by docs/make_figures.py.\n", ".. As far as here.\n"
# The rows of the picture: title, result file, and row in this file. In the last row torch is faster than PyGPU.
BARS = [
    ("x + y", "arithmetic", "x + y (GB/s)"),
    ("0.9*x + y - 2*x*y", "fusion", "0.9*x + y - 2*x*y (GB/s)"),
    ("((x - m)**2).sum()", "fusion", "((x - m)**2).sum() (GB/s)"),
    ("five-point stencil", "fusion", "stencil of five points (GB/s)"),
    ("x.T + y", "arithmetic", "x.T + y (GB/s)"),
    ("x[mask]", "selection", "x[mask] (GB/s)"),
    ("fft along the first axis", "transforms", "fft of columns (GB/s)"),
]
COLOURS = {"PyGPU": "#1f8a5b", "torch": "#d9822b", "CuPy": "#4a7fb5"}
# Sizes in the picture, in pixels; SCALE is the number of GB/s for each pixel.
LEFT, TOP, BAR, GAP, WIDTH, SCALE = 210, 54, 11, 12, 760, 9.6


def between(text: str, inner: str, begin: str, end: str) -> str:
    """Return a text in which `inner` replaces the lines between the strings `begin` and `end`."""
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise LookupError(f"the text has no lines {begin!r} and {end!r}")
    return f"{before}{begin}{inner}{end}{after}"


def costs() -> list[tuple[str, str, str]]:
    """Return the rows of the guide's table: a subject, a slow form of the program, and a fast form."""
    transfers, fusion, launches = Transfers(read("compare")), read("fusion")["rows"], read("launches")
    copies = report.table(read("strided"))
    products, selection = read("products")["rows"], read("selection")["rows"]
    solves = read("factorizations")["rows"]

    def speed(way: str) -> str:
        return f"{transfers.of(way, 256 * MIB):.1f} GB/s"

    def kernel(what: str) -> str:
        return f"{copies[f'{what} (GB/s)']['PyGPU']:.0f} GB/s"

    expression = fusion["0.9*x + y - 2*x*y (GB/s)"]
    masked = selection["s[s > 3] of 16 (us)"]["PyGPU"]
    chosen = read("arithmetic")["rows"]["where(m, x, y) of 16 (us)"]["PyGPU"]
    wait, launch = fusion["(s + s2) fetched (us)"]["PyGPU"], fusion["s + s2, kept, then launched (us)"]["PyGPU"]
    batch = 1e6 / solves["solve of 1000 x 16 (calls/s)"]["PyGPU"]
    stack = 2 * 4096 * 64**3 / products["TFLOP, 4096 x 64^3 float32 (a second)"]["PyGPU"] / 1e6
    each, in_graph = launches["launch_us"]["PyGPU, native"], launches["graph_us_per_kernel"]["PyGPU"]
    return [
        (
            "`0.9*x + y - 2*x*y`, 1 GiB",
            f"a kernel each: {expression['torch']:.0f} GB/s (torch)",
            f"one kernel: {expression['PyGPU']:.0f} GB/s",
        ),
        (
            "16 elements",
            f"`(s + s2).get()`, which waits: {wait:.1f} us",
            f"`s + s2`, kept on the device: {launch:.1f} us",
        ),
        ("selection of 16", f"`s[s > 3]`, which waits: {masked:.1f} us", f"`where(m, x, y)`: {chosen:.1f} us"),
        (
            "download, 256 MiB",
            f"`get()`, results kept: {speed('from device, fresh')}",
            f"`get(out=pinned)`: {speed('into pinned')}",
        ),
        ("upload, 256 MiB", f"ordinary memory: {speed('to device')}", f"pinned memory: {speed('to device, pinned')}"),
        (
            "copy of a view",
            f"every second column: {kernel('every second column')}",
            f"every second row: {kernel('every second row')}",
        ),
        ("short kernels", f"a launch each: {each:.1f} us", f"in a graph of 100: {in_graph:.2f} us each"),
        (
            "`linalg.solve`",
            f"one system of 3: {solves['solve of 3 (us)']['PyGPU']:.0f} us",
            f"1000 systems of 16: {batch:.0f} us",
        ),
        ("`a @ b`", f"one of 3 x 3: {products['3 x 3 @ (us)']['PyGPU']:.1f} us", f"4096 of 64 x 64: {stack:.0f} us"),
    ]


def guide(text: str) -> str:
    """Return the text of docs/howto/fast.md with a new table."""
    rows = ["| " + " | ".join(row) + " |" for row in costs()]
    head = f"Measured on an {made_on(read('compare'))} ([performance](../performance.md)):"
    return between(text, "\n".join([head, "", "| | slow | fast |", "|---|---|---|", *rows, ""]), BEGIN, END)


def gallery(text: str) -> str:
    """Return the text of the gallery's header with a new table of times."""
    results = read("gallery")
    lines = ["", ".. list-table::", "   :header-rows: 1", "", "   * - program", "     - PyGPU, ms", "     - NumPy, ms"]
    for title, row in results["rows"].items():
        lines += [f"   * - {title.removesuffix(' (ms)')}"] + [f"     - {row[name]:.4g}" for name in ("PyGPU", "NumPy")]
    made = results["machine"]
    where = (
        "; ".join(made["gpus"]) or f"the CPU backend, without a GPU: {made['cores']} cores of an {made['processor']}"
    )
    lines += ["", f"Measured on {where}, by ``python benches/python/gallery.py`` at commit {made['commit']}.", "", ""]
    return between(text, "\n".join(lines), RST_BEGIN, RST_END)


def bars() -> list[tuple[str, dict[str, float]]]:
    """Return the rows of the picture: a title, and the speed of each library."""

    def row(name: str, which: str) -> dict[str, Any]:
        found = read(name)["rows"][which]
        return {report.TITLES[library]: value for library, value in found.items() if library in report.TITLES}

    return [(title, {name: row(file, which)[name] for name in COLOURS}) for title, file, which in BARS]


def picture() -> str:
    """Return the picture: a group of bars for each row, on a white ground that suits light and dark pages."""
    rows = bars()
    height = TOP + len(rows) * (3 * BAR + GAP) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        "<title>Speed of PyGPU, torch and CuPy on arrays of 1 GiB, in GB/s</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff"/>',
        f'<text x="20" y="26" font-size="14" fill="#222">GB/s on one {escape(card())}, arrays of 1 GiB</text>',
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        left = 480 + 90 * place
        lines.append(f'<rect x="{left}" y="16" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{left + 18}" y="26" fill="#222">{name}</text>')
    for place, (title, speeds) in enumerate(rows):
        top = TOP + place * (3 * BAR + GAP)
        lines.append(
            f'<text x="{LEFT - 10}" y="{top + 2 * BAR}" text-anchor="end" font-family="monospace" fill="#222">'
            f"{escape(title)}</text>"
        )
        for index, (name, colour) in enumerate(COLOURS.items()):
            y, speed = top + index * BAR, speeds[name]
            length = speed / SCALE
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 1}" fill="{colour}"/>')
            lines.append(
                f'<text x="{LEFT + length + 5:.1f}" y="{y + BAR - 2}" font-size="10" fill="#444">{speed:.0f}</text>'
            )
    lines.append(f'<text x="20" y="{height - 12}" font-size="10" fill="#666">{escape(source())}</text>')
    return "\n".join([*lines, "</svg>", ""])


def card() -> str:
    """Return the name of the GPU on which all rows of the picture were measured."""
    cards = {read(file)["machine"]["gpus"][0].split(", ")[0] for _, file, _ in BARS}
    if len(cards) != 1:
        raise ValueError(f"the rows of the picture were measured on several kinds of GPUs: {sorted(cards)}")
    return cards.pop()


def source() -> str:
    """Return the line below the picture: the versions of the libraries, and the origin of the figures."""
    versions = read("fusion")["machine"]["versions"]
    return (
        f"torch {versions['torch'].partition('+')[0]} without torch.compile, CuPy {versions['cupy-cuda13x']} without "
        "cupy.fuse; bytes that must be read and written, per second; docs/performance.md"
    )


if __name__ == "__main__":
    write(PICTURE, picture)
    write(GUIDE, lambda: guide(GUIDE.read_text(encoding="utf-8")))
    write(GALLERY, lambda: gallery(GALLERY.read_text(encoding="utf-8")))
