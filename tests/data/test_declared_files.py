"""Files that no audit hook reports, as C libraries open them: a job gets them as inputs."""

import ast

import soundfile
from project import ROOT

from reproduction.data.loaders import audio

UNSEEN = {
    "ctypes.CDLL",
    "h5py.File",
    "multiprocessing.Process",
    "os.posix_spawn",
    "os.system",
    "pyarrow.memory_map",
    "soundfile.SoundFile",
    "soundfile.read",
    "sqlite3.connect",
    "subprocess.Popen",
    "subprocess.check_output",
    "subprocess.run",
}
"""Calls whose files Python does not report, or which start processes that it does not observe."""
DECLARED = {
    "reproduction/data/loaders/audio.py": {"soundfile.read"},
}
"""Module of a loader or a paper -> its calls, which open raw files of a data set alone."""


def calls_in(file):
    """Full names of the functions of other modules that a file calls."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            names.add(ast.unparse(node.func))
        if isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_every_loader_that_opens_files_unseen_is_listed():
    sources = [*ROOT.glob("src/reproduction/data/loaders/*.py"), *ROOT.glob("src/papers/*/*.py")]
    opened = {}
    for file in sources:
        unseen = calls_in(file) & UNSEEN
        if unseen and not file.name.startswith(("test_", "conftest")):
            opened[str(file.relative_to(ROOT / "src"))] = unseen
    assert opened == DECLARED


def test_the_loader_of_sound_opens_only_the_files_that_it_is_given(tmp_path, monkeypatch):
    opened = []
    read = soundfile.read

    def observe(path, **options):
        opened.append(path)
        return read(path, **options)

    files = {}
    for name in ("first.wav", "second.wav"):
        files[name] = tmp_path / name
        soundfile.write(files[name], [0.0, 0.5, -0.5, 0.25] * 2_000, audio.RATE)
    soundfile.write(tmp_path / "other.wav", [0.0, 0.5] * 4_000, audio.RATE)
    monkeypatch.setattr(audio.soundfile, "read", observe)
    audio.speech(files)
    assert opened == list(files.values())
