"""A script run in a copy of a loaded process does what it does in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reproduction.frame import warm

SCRIPT = Path(__file__).resolve().parents[1] / "src/scripts/warm.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every job is a process of its own")


@pytest.fixture(scope="module")
def server():
    process = warm.start(SCRIPT)
    yield process
    process.communicate()
    del os.environ["NOISYLABELS_WARM"]


def command(script, *words):
    return [sys.executable, "-I", "-S", str(SCRIPT), str(script), *words]


def asked(script, *words, address=None):
    """Exit status, output and errors."""
    environment = os.environ | ({} if address is None else {"NOISYLABELS_WARM": address})
    done = subprocess.run(command(script, *words), env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def script(tmp_path):
    def written(text):
        file = tmp_path / "script.py"
        file.write_text(text)
        return file

    return written


@pytest.mark.parametrize(
    "text",
    [
        "import sys; print(sys.argv[1:], __name__, __file__)",
        "import atexit, sys; atexit.register(print, 'last'); sys.exit(3)",
        "import sys; print('first'); sys.exit('what is wrong')",
        "import sys; sys.exit(None)",
        "import sys; print(repr(sys.stdin.read()))",
        "import os; print(os.getcwd(), os.environ['PATH'])",
        "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (2, 15)])",
        "import sys; print(sys.path, file=sys.stderr)",
    ],
)
def test_output_and_exit_status_are_those_of_a_process_of_its_own(server, script, text):
    file = script(text)
    words = ["a word", "", "ü\n"]
    own = subprocess.run(
        [sys.executable, file, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    code, out, errors = asked(file, *words)
    assert (code, out) == (own.returncode, own.stdout)
    assert errors.replace(str(SCRIPT.parent), str(file.parent)) == own.stderr


def test_an_error_is_shown_with_its_line(server, script):
    code, _, errors = asked(script("x = 1\nraise ValueError('no such thing')\n"))
    assert code == 1
    assert "line 2" in errors
    assert errors.endswith("ValueError: no such thing\n")


def test_packages_are_loaded_and_the_library_is_not(server, script):
    file = script(
        "import sys\n"
        "print('pandas' in sys.modules, any(name.startswith('noisylabels') for name in sys.modules))\n"
    )
    assert asked(file) == (0, "True False\n", "")
    for address in ("", "elsewhere:" + os.environ["NOISYLABELS_WARM"].rpartition(":")[2], "/no:/such"):
        assert asked(file, address=address)[1] == "False False\n"


def test_a_job_ends_with_who_asked_for_it(server, script, tmp_path):
    pid = tmp_path / "pid"
    file = script(f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    asking = subprocess.Popen(command(file))
    while not (pid.is_file() and pid.read_text()):
        time.sleep(0.02)
    asking.kill()
    asking.wait()
    assert ends(int(pid.read_text()))


def test_a_job_that_is_killed_fails(server, script):
    code, _, errors = asked(script("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert code == 1
    assert "was killed" in errors


def test_it_ends_with_the_process_that_started_it(script):
    file = script(
        "import os, signal, sys\nfrom reproduction.frame import warm\nprocess = warm.start(sys.argv[1])\n"
        "print(process.pid, os.environ['NOISYLABELS_WARM'].rpartition(':')[2], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, file, SCRIPT], capture_output=True, text=True)
    pid, address = done.stdout.split()
    assert done.returncode == -signal.SIGKILL
    assert ends(int(pid))
    assert not Path(address).parent.exists()


def ends(pid):
    """Does the process end within ten seconds? One that nobody has waited for yet has ended."""
    for _ in range(500):
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
