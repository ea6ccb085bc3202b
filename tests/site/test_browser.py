"""The pages in a real browser: no error, no request to anywhere, and everything that can be pressed works."""

import json
import os
import re
import shutil
import subprocess

import pytest
from finished_runs import NAMES

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on PATH"),
    pytest.mark.slow,
]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--allow-file-access-from-files",  # the driving page looks into the others, which it shows in frames
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--virtual-time-budget=120000",
]

ITS_OWN = (".google.com", ".googleapis.com", ".gvt1.com")
"""Whom the browser itself asks for the time and for updates, whatever page it shows; nothing arrives."""

# Opens a page in a frame as wide as a phone, or a screen; `act` gets its window and gives what is asked.
DRIVER = """<!DOCTYPE html><meta charset="utf-8"><body><pre id="told"></pre><script>
async function visit(name, width, act) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:800px;border:0`;
  frame.src = name;
  await new Promise((loaded) => { frame.onload = loaded; document.body.append(frame); });
  const answer = await act(frame.contentWindow, frame.contentDocument);
  frame.remove();
  return answer;
}
const shown = (page) =>
  [...page.querySelectorAll(".card:not([hidden])")].map((card) => card.getAttribute("href"));
function type(window, page, text) {
  page.getElementById("search").value = text;
  page.getElementById("search").dispatchEvent(new window.Event("input"));
  return shown(page);
}
(async () => {
  const told = {};
  try { %s } catch (error) { told.failure = String(error.stack || error); }
  document.getElementById("told").textContent = JSON.stringify(told);
})();
</script>"""


def driven(site, tmp_path, script):
    """What a script in the driving page tells; fails on messages of the console and on requests."""
    (site / "driver.html").write_text(DRIVER % script)
    log = tmp_path / "net.json"
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={log}"]
    try:
        done = subprocess.run(
            [*command, "--dump-dom", (site / "driver.html").as_uri()],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | {"HOME": str(tmp_path)},
        )
    finally:
        (site / "driver.html").unlink()
    assert "CONSOLE" not in done.stderr, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    hosts = set(re.findall(r'"url":"https?://([^/":]*)', log.read_text()))
    assert [host for host in hosts if not host.endswith(ITS_OWN)] == []
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[-500:] + done.stderr[-2000:]
    told = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert "failure" not in told, told["failure"]
    return told


def test_every_page_fits_a_phone_and_says_nothing_to_the_console(site, tmp_path):
    pages = sorted(str(file.relative_to(site)) for file in site.rglob("*.html"))
    told = driven(
        site,
        tmp_path,
        "for (const name of " + json.dumps(pages) + ") told[name] = await visit(name, 390, (window, page) => "
        "[page.documentElement.scrollWidth, !!page.querySelector('main h1'), "
        "[...page.images].every((image) => image.loading === 'lazy' || image.naturalWidth > 0)]);",
    )
    assert len(told) == len(pages) > len(NAMES)
    for name, (width, headed, pictured) in told.items():
        assert width <= 390, name
        assert headed, name
        assert pictured, name


def test_search_and_chips_find_results(site, tmp_path):
    told = driven(
        site,
        tmp_path,
        """await visit("index.html", 1200, (window, page) => {
          told.all = shown(page);
          told.speech = type(window, page, "speech");
          told.twonorm = type(window, page, "Twonorm");
          told.method = type(window, page, "robust_multi_kernel");
          told.none = type(window, page, "no such words");
          told.empty = !page.getElementById("nothing").hidden;
          told.figure = type(window, page, "figure 5")[0];
          type(window, page, "");
          page.querySelector("[data-value=table]").click();
          told.tables = shown(page);
          page.querySelector("[data-value=ours]").click();
          told.own = shown(page);
          page.getElementById("clear").click();
          told.cleared = shown(page);
        });
        told.linked = await visit("index.html?q=speech", 1200, (window, page) => shown(page));""",
    )
    assert len(told["all"]) == len(NAMES) == len(told["cleared"])
    assert told["speech"] == told["linked"] == ["ors_fig5.html", "ors_final_errors.html"]
    assert told["twonorm"] == told["method"] == ["kernel_boost_rivals.html"]
    assert told["none"] == []
    assert told["figure"] == "ors_fig5.html"
    assert told["empty"]
    assert "kernel_boost_rivals.html" in told["tables"]
    assert told["own"] == ["ors_final_errors.html"]


def test_curves_are_drawn_hidden_and_read(site, tmp_path):
    told = driven(
        site,
        tmp_path,
        """await visit("ors_fig2.html", 1000, async (window, page) => {
          page.getElementById("curves").open = true;
          await new Promise((later) => setTimeout(later, 100));
          const lines = () => page.querySelectorAll(".plot polyline").length;
          told.before = lines();
          page.querySelector(".keys button").click();
          told.hidden = lines();
          page.querySelector(".keys button").click();
          told.again = lines();
          const box = page.querySelector(".plot").getBoundingClientRect();
          page.querySelector(".plot").dispatchEvent(
            new window.PointerEvent("pointermove", { clientX: box.left + 70, clientY: box.top + 50 }));
          told.tip = page.querySelector(".tip").innerText;
          told.log = page.querySelectorAll(".controls button").length;
          page.querySelector(".controls button").click();
          told.logged = lines();
        });""",
    )
    assert told["before"] == told["again"] == told["logged"] == 4
    assert told["hidden"] == 3
    assert "round t: 1" in told["tip"]
    assert "clean label" in told["tip"]
    assert told["log"] == 2
