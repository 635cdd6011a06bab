"""Settings of sphinx-gallery, which builds the gallery from `examples/`."""

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst

EXAMPLES = Path(__file__).parents[2] / "examples"
# Examples that run during the build. Examples that print times are excluded, because the times are meaningless there.
RUN = (
    "kmeans", "heat", "blur", "black_scholes", "low_pass", "nbody", "mandelbrot", "water_waves", "random_walks",
    "time_zones", "matmul", "reduction",
)  # fmt: skip
THUMBNAIL = EXAMPLES.parent / "build" / "program.png"

settings = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": rf"/({'|'.join(RUN)})\.py$",
    "ignore_pattern": r"/bindings/|/notebooks/",
    "image_scrapers": ("gallery.pictures",),
    "reset_modules": (),
    "within_subsection_order": "gallery.run_first",
    "default_thumb_file": str(THUMBNAIL),
    "thumbnail_size": (400, 280),
    "download_all_examples": False,
    "min_reported_time": 1000,
    "show_signature": False,
    "remove_config_comments": True,
    "backreferences_dir": None,
    "write_computation_times": False,
}


def pictures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Move the pictures that an example has written to the folder of the site."""
    taken = []
    for made in sorted(Path(variables["src_file"]).parent.glob("*.png")):
        target = Path(next(variables["image_path_iterator"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        made.replace(target)
        taken.append(str(target))
    return figure_rst(taken, settings["src_dir"])


def run_first(name: str) -> tuple[int, str]:
    """Return the key by which examples are sorted: examples with a picture come first, in the order of `RUN`."""
    stem = Path(name).stem
    return RUN.index(stem) if stem in RUN else len(RUN), name


def thumbnail() -> None:
    """Draw the thumbnail of examples that show no picture. Its colors suit light and dark backgrounds."""
    image = Image.new("RGBA", (400, 280), "#8a9a9120")
    draw = ImageDraw.Draw(image)
    for line, (indent, length) in enumerate([(0, 210), (1, 150), (1, 240), (2, 130), (2, 190), (1, 90), (0, 120)]):
        left, top = 50 + 28 * indent, 50 + 27 * line
        draw.rounded_rectangle((left, top, left + length, top + 11), 5, "#3f9f70" if indent == 0 else "#8fa499")
    THUMBNAIL.parent.mkdir(exist_ok=True)
    image.save(THUMBNAIL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw the thumbnail before sphinx-gallery reads it; Sphinx calls this function."""
    thumbnail()
    return {"parallel_read_safe": True}
