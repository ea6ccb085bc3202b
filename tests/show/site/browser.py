"""Pages in headless Chromium: messages of the console, requests, and what a script finds there."""

import json
import os
import re
import shutil
import subprocess

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--no-first-run"]
FLAGS += [
    "--allow-file-access-from-files"
]  # the driving page looks into the others, which it shows in frames
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"]
FLAGS += ["--virtual-time-budget=120000"]
OF_THE_THEME = "[PST]: "
"""How the remarks of the theme on its colours begin."""
ITS_OWN = (".google.com", ".googleapis.com", ".gvt1.com")
"""Hosts that the browser itself asks for the time and for updates; nothing arrives."""

# Opens a page in a frame as wide as a phone, or a screen; `act` gets its window and returns the
# answer.
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
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    unexpected = [line for line in messages if OF_THE_THEME not in line]
    assert not unexpected, "\n".join(unexpected)
    hosts = set(re.findall(r'"url":"https?://([^/":]*)', log.read_text()))
    assert [host for host in hosts if not host.endswith(ITS_OWN)] == []
    match = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stdout[-500:] + done.stderr[-2000:]
    answers = json.loads(match[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert "failure" not in answers, answers["failure"]
    return answers
