"""The whole site in one Sphinx project: documentation, tutorials, papers and reference.

The source is the repository itself, so that every link works there as well as here. What the pages
say is ours; how they look, their search, formulas and docstrings are the work of Sphinx and its
extensions.
Scripts come from packages of `dev.lock` and are copied at build time: no page asks another host.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT / "src")]

import answers  # noqa: E402
import api  # noqa: E402
import results  # noqa: E402
import scripts_of_pages  # noqa: E402

from noisylabels import __version__  # noqa: E402

project, author, copyright = "noisylabels", "The noisylabels authors", "The noisylabels authors"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "config/*.md",
    "docs/**",
    "src/papers/*/*.md",
]
exclude_patterns = [
    ".*",
    "data/raw",
    "data/prepared",
    "docs/_*",
    "docs/results/thumbnails",
    "docs/conf.py",
    "src/noisylabels",
    "src/papers/_templates",
    "src/reproduction",
    "src/scripts",
    "results",
    "figures",
    "logs",
    "site",
    "tests",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_title = "noisylabels"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 1,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "footer_start": [],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"docs/index": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_use_index = False
html_show_sourcelink = False
html_copy_source = False
mathjax_path = "mathjax.js"

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_use_plots = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):  # noqa: D103
    app.add_config_value("papers_to_show", [], "env", types=[list])
    app.connect("builder-inited", results.write)
    app.connect("builder-inited", api.write)
    app.connect("builder-inited", scripts_of_pages.copy)
    app.connect("source-read", answers.read)
    app.connect("source-read", api.contents)
    app.connect("build-finished", api.front)
    app.connect("build-finished", results.export)
    app.connect("autodoc-skip-member", api.skip)
