"""The documentation as a site: README, guides, papers, and the reference made from the docstrings.

The source is the repository itself, so that every link works there as well as here. ``./run site`` builds it
into site/docs and puts it beside the results: one header, one style, one search.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT / "src")]

import answers  # noqa: E402
import api  # noqa: E402
import docstrings  # noqa: E402
import formulas  # noqa: E402
import mathml  # noqa: E402

from noisylabels import __version__  # noqa: E402

project, author, copyright = "noisylabels", "The noisylabels authors", "The noisylabels authors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "config/*.md",
    "data/*.md",
    "docs/**",
    "src/papers/*/*.md",
]
exclude_patterns = [
    ".*",
    "data/raw",
    "data/prepared",
    "docs/_*",
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
html_theme = "_theme"
html_theme_path = [str(HERE)]
html_static_path = ["_static", str(ROOT / "src/noisylabels/auditing/templates/style.css")]
html_use_index = False
html_show_sourcelink = False
html_copy_source = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_use_plots = False
html_math_renderer = "mathml"  # readable without a network


def setup(app):  # noqa: D103
    app.add_html_math_renderer("mathml", (mathml.inline, None), (mathml.display, None))
    app.connect("builder-inited", api.write)
    app.connect("source-read", answers.read)
    app.connect("source-read", api.contents)
    app.connect("doctree-read", formulas.display)
    app.connect("build-finished", api.front)
    app.connect("autodoc-skip-member", docstrings.skip)
    docstrings.connect(app)
