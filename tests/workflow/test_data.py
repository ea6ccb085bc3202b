"""The target `data`: what it fetches at which scale, from where, and that offline means offline."""

import json

import numpy as np
import pytest
import soundfile

pytestmark = pytest.mark.workflow

GUARD = """
import os
import socket

with open(os.path.join(os.path.dirname(__file__), "processes"), "a") as processes:
    processes.write(f"{os.getpid()}\\n")

class NetworkUsed(BaseException):
    pass

def refuse(*arguments, **options):
    raise NetworkUsed(arguments)

socket.socket.connect = socket.socket.connect_ex = refuse
socket.socket.sendto = socket.getaddrinfo = refuse
"""


@pytest.mark.nightly
def test_every_paper_is_fetched_from_packages_at_the_smoke_scale(run):
    smoke_run = run("smoke")
    titles = (smoke_run.checkout / "src/papers").glob("*/TITLE")
    papers = sorted(path.parent.name for path in titles)
    data = f"data={{offline: true, mirror: {smoke_run.folder}}}"
    files = [str(smoke_run.folder / "overlay.yaml"), str(smoke_run.checkout / "config/smoke.yaml")]
    smoke = ["--configfile", *files, "--config", f"papers=[{','.join(papers)}]", data]
    smoke_run.snakemake("data", options=["-n", *smoke])
    records = smoke_run.folder.glob(".cache/keys/data/raw/*/record.json")
    keys = {key.parent.name: key for key in records}
    assert "speech.packaged" in keys
    for name, key in keys.items():
        assert ".packaged" in name
        options = json.loads(key.read_bytes())["given"]["options"]
        assert options == [f"--mirror={smoke_run.folder}", "--offline"]


@pytest.mark.nightly
def test_a_set_that_no_package_has_stops_only_what_uses_it(copy):
    copy.edit("overlay.yaml", "formats:", "data: {source: packaged}\nformats:")
    copy.edit("src/papers/ors/fig5.yaml", "[speech,", "[parkinsons, speech,")
    reason = "parkinsons has no source or variant 'packaged'; it has: canonical, mirror"
    assert f"ors/fig5 cannot run: {reason}" in copy.snakemake("ors_fig5", options=["-n"], fail=True)
    planned = copy.snakemake("data", "ors", options=["-n", "-p"])
    assert "draw_ors" in planned
    assert "scripts.fetch" not in planned


@pytest.mark.nightly
def test_offline_data_of_the_user_are_prepared_without_any_network(run, monkeypatch):
    offline_run = run("offline")
    (offline_run.folder / "guard").mkdir()
    (offline_run.folder / "guard/sitecustomize.py").write_text(GUARD)
    rng = np.random.default_rng(0)
    for name in ("talk", "room"):
        soundfile.write(offline_run.folder / f"{name}.wav", rng.uniform(-0.5, 0.5, 16_000), 16_000)
    local = "data={offline: true, local: {speech: talk.wav, living_room: room.wav}}"
    guarded = offline_run.environment() | {"PYTHONPATH": str(offline_run.folder / "guard")}
    monkeypatch.setattr(offline_run, "environment", lambda: guarded)
    offline_run.snakemake("data", options=["--config", local])
    log = (offline_run.folder / "logs/data/fetch.speech.log").read_text()
    assert "speech from local (local)" in log
    prepared = {path.name for path in (offline_run.folder / "data/prepared").glob("*.npz")}
    assert prepared == {"speech.npz", "living_room.npz"}
    processes = (offline_run.folder / "guard/processes").read_text().split()
    assert len(processes) >= 5  # the workflow and its four jobs
