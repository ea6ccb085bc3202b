"""Starts the process whose copies draw: ``warm.py``, which says what it is for."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path


def start(script: Path) -> subprocess.Popen[bytes] | None:
    """Run ``script --serve`` until this process ends or forgets what is returned, and tell the jobs where.

    Only on Linux: elsewhere the system's own libraries need not survive a copy of their process.
    """
    if sys.platform != "linux":
        return None
    address = os.path.join(tempfile.mkdtemp(prefix="noisylabels-"), "jobs")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(128)
        number = listener.fileno()
        command = [sys.executable, str(script), "--serve", str(number)]
        # The end of this process closes the pipe, however it ends, and that ends the other.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])
    os.environ["NOISYLABELS_WARM"] = os.pathsep.join([os.path.dirname(sys.executable), address])
    return process
