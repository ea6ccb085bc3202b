"""A folder that a user names is taken only if nothing of the user's can be lost in it."""

import os
import subprocess
import sys

import pytest
from checkouts import ROOT

from noisylabels.output_folder import MARK, claim_output_folder


def contents(folder):
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize("folder", ["new", "new/below", "empty"])
def test_a_new_or_empty_folder_is_taken_marked_and_taken_again(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    for _ in range(2):
        claim_output_folder(tmp_path / folder, "audit")
        (tmp_path / folder / "result.csv").write_text("ours")
    assert (tmp_path / folder / MARK).read_text().startswith("noisylabels audit")


@pytest.mark.parametrize(
    "file", ["thesis.tex", ".hidden", "below/thesis.tex", "config.yaml", "table.npz", "index.html"]
)
@pytest.mark.parametrize("command", ["audit", "trial", "site"])
def test_a_folder_with_files_of_the_user_is_refused_and_keeps_them(tmp_path, file, command):
    folder = tmp_path / "mine"
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_text("mine")
    before = contents(folder)
    with pytest.raises(
        ValueError, match=f"holds files that are not from an? {command} .*; name a new folder$"
    ):
        claim_output_folder(folder, command)
    assert contents(folder) == before


def test_the_folder_of_another_command_is_refused(tmp_path):
    claim_output_folder(tmp_path / "found", "audit")
    with pytest.raises(ValueError, match="holds files that are not from a trial"):
        claim_output_folder(tmp_path / "found", "trial")


def test_the_folder_of_an_audit_of_version_1_is_taken_by_an_audit_only(tmp_path):
    (tmp_path / "audit.txt").write_text("noisylabels audit of beans.csv\n")
    (tmp_path / "review.csv").write_text("answers")
    with pytest.raises(ValueError, match="not from a site"):
        claim_output_folder(tmp_path, "site")
    claim_output_folder(tmp_path, "audit")
    assert (tmp_path / "review.csv").read_text() == "answers"


def test_a_folder_with_an_input_is_refused(tmp_path):
    claim_output_folder(tmp_path / "found", "audit")
    (tmp_path / "found/rows.csv").write_text("a,b\n")
    (tmp_path / "link").symlink_to(tmp_path / "found")
    for folder in ("found", "link"):
        with pytest.raises(ValueError, match=r"holds rows.csv, which is read"):
            claim_output_folder(tmp_path / folder, "audit", [tmp_path / "found/rows.csv"])


def test_what_is_no_folder_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for name, message in (
        ("file", "is a file; name a folder"),
        ("file/below", "cannot be written (Not a directory); name another folder"),
        ("nowhere", "cannot be written (File exists); name another folder"),
        ("file/\x1b]0;title\n", "cannot be written"),
    ):
        with pytest.raises(ValueError, match=r"^--out: ") as error:
            claim_output_folder(tmp_path / name, "audit")
        assert message in str(error.value)
        assert "\n" not in str(error.value)
        assert "\x1b" not in str(error.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_pages_replace_no_folder_of_the_user(tmp_path):
    (tmp_path / "mine/theses").mkdir(parents=True)
    (tmp_path / "mine/theses/thesis.tex").write_text("mine")
    command = [sys.executable, "-P", ROOT / "src/scripts/site.py", "--out", tmp_path / "mine"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "holds files that are not from a site (theses); name a new folder" in done.stderr
    assert contents(tmp_path / "mine") == {"theses/thesis.tex": b"mine"}
