"""Configure the documentation site, which `make docs` builds from the pages above this folder and from docstrings."""

import os
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import PyGPU

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import api_pages  # noqa: E402
import contents  # noqa: E402
import downloads  # noqa: E402
import gallery  # noqa: E402
import search_words  # noqa: E402

project = "PyGPU"
author = "The PyGPU developers"
copyright = author
version = release = PyGPU.__version__

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx_copybutton",
    "sphinx_reredirects", "gallery", "sphinx_gallery.gen_gallery",
]  # fmt: skip
sphinx_gallery_conf = gallery.settings
# Pages that have moved. The old address redirects to the new one.
redirects = {
    "design/callbacks": "ffi_and_fork.html",
    "design/deferred_arithmetic": "fusion.html",
    "design/order": "hazards.html",
    "design/packages": "python_packages.html",
    "design/pains": "interop_regressions.html",
    "design/scale": "multi_gpu.html",
    "design/walks": "loop_nests.html",
    "gallery/demo": "feature_tour.html",
    "gallery/everywhere": "all_backends.html",
    "gallery/walks": "random_walks.html",
    "gallery/waves": "water_waves.html",
    "gallery/zones": "time_zones.html",
    "howto/engines": "frameworks.html",
    "howto/find_mistakes": "debug_kernels.html",
    "howto/seen_from_outside": "observability.html",
    "howto/when_is_it_computed": "fusion.html",
    "standard": "array_api.html",
}
root_doc = "index"
exclude_patterns = ["site"]
# If several modules define a name such as `Stream`, a link on the page of a module leads to that module's object.
suppress_warnings = ["ref.python", "myst.header"]

# Sphinx renders `name` in a docstring as a link if the name exists, otherwise as code.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autosummary_generate = False
# Annotations contain internal types, so the pages omit them; the texts describe the arguments.
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
python_maximum_signature_line_length = 120

myst_heading_anchors = 4
myst_links_external_new_tab = False
html_theme = "furo"
html_title = f"PyGPU {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_search_scorer = str(search_words.write_scorer())
html_copy_source = False
html_show_sourcelink = False
# The copy button of an example copies neither prompts nor output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#1f6f4a", "color-brand-content": "#1a6b8f"},
    "dark_css_variables": {"color-brand-primary": "#6fcf97", "color-brand-content": "#7cc4e8"},
}


LINK = re.compile(r"\[([^\]\n]+)\]\(([^)#:\s]+)\)")


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Adapt a Markdown page to the site.

    Link to the gallery instead of examples, to an archive instead of folders of bindings, remove links to other
    folders, and add search words and the pages below.
    """
    docs = Path(app.srcdir)
    folder = (docs / page).parent

    def there(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target == gallery.EXAMPLES:
            return f"[{link[1]}](/gallery/index)"
        if downloads.is_example_of_bindings(target):
            return f"[{link[1]}]({os.path.relpath(downloads.ARCHIVE, folder)})"
        return link[1] if target.is_dir() else link[0]

    source[0] = LINK.sub(there, source[0])
    source[0] = (
        search_words.front_matter(page)
        + contents.with_unique_title(docs, page, source[0])
        + contents.toctrees(contents.read(docs)).get(page, "")
    )


def setup(app: Sphinx) -> None:
    """Register the handlers of events with Sphinx, which calls this function."""
    app.connect("builder-inited", api_pages.write)
    app.connect("builder-inited", lambda _: downloads.write())
    app.connect("source-read", complete)
    # The table of contents and the words of a page may change without a change of its file.
    app.connect("env-get-outdated", lambda *_: ["index", *contents.toctrees(contents.read(Path(app.srcdir)))])
