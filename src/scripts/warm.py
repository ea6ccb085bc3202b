"""Run a script in a copy of a process that has loaded what drawing needs: loading takes longer than drawing.

    python -I -S warm.py render.py ARGUMENTS    what a job says: without such a process `python render.py ...`
    python warm.py --serve LISTENER             that process; `reproduction.frame.warm` starts it

It loads nothing of this project: a job sees the files as they are when it starts, as any other job does.
"""

import os
import socket
import sys

ADDRESS = "NOISYLABELS_WARM"
"""Environment variable: folder of the interpreter, and the socket to ask at."""
PACKAGES = ("pandas", "matplotlib.figure", "matplotlib.backends.backend_agg")
LENGTH = 8
"""Bytes of the number that says how long a request is."""


def ask(script: str, words: list[str]) -> int:
    """Exit status of the script."""
    with socket.socket(socket.AF_UNIX) as connection:
        folder, _, address = os.environ.get(ADDRESS, "").rpartition(os.pathsep)
        try:
            if folder != os.path.dirname(sys.executable):  # another environment than the workflow's
                raise ConnectionError
            connection.connect(address)
        except OSError:
            os.execv(sys.executable, [sys.executable, script, *words])
        request = b"\0".join(map(os.fsencode, [script, *words]))
        socket.send_fds(connection, [len(request).to_bytes(LENGTH, "big")], [1, 2])
        try:
            connection.sendall(request)
            status = connection.recv(1)[0]
            connection.recv(1)  # ends with the process
        except (OSError, IndexError):
            sys.exit(f"{script}: the process that ran it was killed")
    return status


def serve(listener: socket.socket) -> socket.socket | None:
    """Copy this process for every job. In the copy returns its connection, here None after the workflow."""
    import select
    import shutil
    import signal

    # They end the workflow, and that ends this process.
    usual = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
        if listener in ready:
            connection, _ = listener.accept()
            load()
            if not os.fork():
                for number, handler in usual.items():
                    signal.signal(number, handler)
                listener.close()
                return connection
            connection.close()
            ended()
    ended()
    shutil.rmtree(os.path.dirname(listener.getsockname()), ignore_errors=True)
    return None


def load() -> None:
    """The packages, with the first job: a run that draws nothing needs none."""
    try:
        for package in PACKAGES:
            __import__(package)
    except Exception:  # a damaged package can raise anything; the job will say which
        return


def ended() -> None:
    """Take leave of the copies whose jobs are done."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass  # there are none


def work(connection: socket.socket) -> int:
    """Do here what `ask` asked for; returns the exit status after it was told."""
    import threading
    import traceback
    from types import ModuleType

    size, descriptors, *_ = socket.recv_fds(connection, LENGTH, 2)
    for number, descriptor in enumerate(descriptors, start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    request = connection.makefile("rb").read(int.from_bytes(size, "big"))
    # Whoever asked and was killed closes the connection.
    threading.Thread(target=lambda: connection.recv(1) or os._exit(1), daemon=True).start()
    sys.argv = [os.fsdecode(word) for word in request.split(b"\0")]
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__file__ = sys.argv[0]
    status = 0
    try:
        with open(sys.argv[0], "rb") as file:
            exec(compile(file.read(), sys.argv[0], "exec"), main.__dict__)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    connection.sendall(bytes([status]))
    return status


if __name__ == "__main__":
    if sys.argv[1] != "--serve":
        sys.exit(ask(os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[1]), sys.argv[2:]))
    if own := serve(socket.socket(fileno=int(sys.argv[2]))):
        sys.exit(work(own))
