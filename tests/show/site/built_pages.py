"""Builds pages of results from their sources, as the whole site does, next to empty other pages."""

import sys
from unittest import mock

from finished_runs import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "docs/_ext"))

OTHER_PAGES = (
    "start",
    "reproduce",
    "audit",
    "library",
    "reference",
    "installation",
    "choose",
    "papers",
    "gallery",
    "limitations",
    "verdicts",
)
"""Pages of the documentation that pages of results link to."""
CONFIGURATION = """
project = html_title = "noisylabels"
extensions = ["sphinx.ext.mathjax", "sphinx_copybutton", "sphinx_design"]
root_doc = "docs/index"
include_patterns = ["docs/**"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["STATIC"]
html_css_files = ["site.css"]
html_copy_source = False
html_context = {"default_mode": "auto"}
mathjax_path = "mathjax.js"
"""


def build_pages(home, out, draws_charts=False):
    """Build the pages from their sources in a folder; a warning is an error.

    The script that draws charts takes two seconds to bundle. By default it is an empty file.
    """
    import scripts_of_pages
    import vl_convert
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    (home / "data").mkdir(exist_ok=True)
    for name in OTHER_PAGES:
        (home / f"docs/{name}.rst").write_text(f":orphan:\n\n{name}\n{'=' * 20}\n")
    static = str(CHECKOUT / "docs/_static")
    (home / "conf.py").write_text(CONFIGURATION.replace("STATIC", static))
    settings = {"status": None, "warning": None, "exception_on_warning": True, "freshenv": True}
    with patch_docutils(home), docutils_namespace():
        app = Sphinx(home, home, out, home / "doctrees", "html", **settings)
        bundle = vl_convert.javascript_bundle if draws_charts else str
        with mock.patch.object(vl_convert, "javascript_bundle", bundle):
            scripts_of_pages.copy(app)
        app.build()
