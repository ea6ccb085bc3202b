"""What an artifact says is shown in the report, and does nothing there."""

import pytest
from docutils.core import publish_parts
from snakemake.io import apply_wildcards

from reproduction.frame import report_text


def html(text):
    return publish_parts(
        report_text.markup(text), writer="html", settings_overrides={"report_level": 5, "halt_level": 6}
    )["body"]


def test_braces_in_a_title_are_no_wildcards():
    title = "f({x}) and {y,z}"
    assert apply_wildcards(report_text.label(title), {}).replace("\u2060", "") == title
    assert "</script" not in report_text.label("</script><script>")


@pytest.mark.parametrize(
    "text",
    [
        ".. raw:: html\n\n   <script>1</script>",
        "* .. raw:: html\n\n     <script>1</script>",
        ":a: .. raw:: html\n\n      <script>1</script>",
        ".. role:: r(raw)\n   :format: html\n\n:r:`<script>`",
        ".. include:: /etc/hostname",
        "`see <javascript:alert(1)>`_",
        "`see <java\nscript:alert(1)>`_",
        "`see`__\n\n__ javascript:alert(1)",
        "<script>1</script>",
    ],
)
def test_a_caption_carries_no_markup_of_its_own(text):
    shown = html(text).lower()
    assert "<script" not in shown
    assert 'href="javascript:' not in shown
    assert 'href="java\nscript:' not in shown


def test_the_usual_markup_stays():
    shown = html("Mean of *ten* runs, C in 2^-8 ... 2^8, :math:`x^2`, see `docs <https://a.org>`_.")
    assert "<em>ten</em>" in shown
    assert "2^-8 ... 2^8" in shown
    assert 'href="https://a.org"' in shown
