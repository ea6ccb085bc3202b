"""Pages in headless Chromium: what the console says, what is asked of the network, what a script there finds.

``python tests/show/site/browser.py site/full [PAGE ...]`` checks ten pages of a site, or those named:
contrast in both colour schemes, reach and marks of the keyboard, the width of a phone and of a sheet of
paper.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--no-first-run"]
FLAGS += [
    "--allow-file-access-from-files"
]  # the driving page looks into the others, which it shows in frames
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=120000"]
TEN = ["index.html", "findings.html", "ors_fig5.html", "kernel_boost_klr_vs_rklr.html"]
TEN += ["robust_sgd_table1.html", "noisy_online_identities.html", "audit_court_probabilities.html"]
TEN += [f"docs/{name}.html" for name in ("README", "docs/choose", "docs/tutorials/audit")]

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
%s
(async () => {
  const told = {};
  try { %s } catch (error) { told.failure = String(error.stack || error); }
  document.getElementById("told").textContent = JSON.stringify(told);
})();
</script>"""

CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")


def driven(site, folder, script, functions=""):
    """What a script in the driving page tells; fails on messages of the console and on requests."""
    (site / "driver.html").write_text(DRIVER % (functions, script), encoding="utf-8")
    log = folder / "net.json"
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"]
    try:
        command += ["--dump-dom", (site / "driver.html").as_uri()]
        home = os.environ | {"HOME": str(folder)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=home)
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


def faults(site, folder, pages):
    """Page -> what is wrong with it."""
    script = f"for (const name of {json.dumps(pages)}) told[name] = await checked(name);"
    found = {}
    for name, told in driven(site, folder, script, CHECKS).items():
        sizes = {"phone": 390, "paper": 700}
        wrong = {key: value for key, value in told.items() if key not in sizes and value}
        wrong |= {key: told[key] for key, most in sizes.items() if told[key] > most}
        if wrong:
            found[name] = wrong
    return found


if __name__ == "__main__":
    if not CHROMIUM:
        sys.exit("browser: needs Chromium on PATH")
    with tempfile.TemporaryDirectory() as scratch:
        pages = sys.argv[2:] or TEN
        wrong = faults(Path(sys.argv[1]).absolute(), Path(scratch), pages)
    print(json.dumps(wrong, indent=1, ensure_ascii=False))
    print(f"{len(pages)} pages, {len(wrong)} with faults; no message of the console, no request to anywhere")
    sys.exit(bool(wrong))
