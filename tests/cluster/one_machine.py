"""A Slurm on one machine: controller, two nodes and munge on loopback, in a folder of its own."""

import os
import re
import shutil
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

SETTINGS = Path("/etc/slurm/slurm.conf")
"""Where jobs look for it: the variable SLURM_CONF does not reach them."""

LOCK = Path("/run/lock/noisylabels-slurm")
MARK = "# noisylabels: one machine, for tests\n"
CONF = (
    MARK
    + """
ClusterName=test
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={state}/munge.socket
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmctldTimeout=10
StateSaveLocation={state}/controller
SlurmdSpoolDir={state}/%n
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/%n.pid
SlurmctldLogFile={state}/slurmctld.log
SlurmdLogFile={state}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=1
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=300
KillWait=5
SlurmdParameters=config_overrides
NodeName=first NodeHostname=localhost Port=16818 CPUs=2 RealMemory=4000 State=UNKNOWN
NodeName=second NodeHostname=localhost Port=16819 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=debug Nodes=first,second Default=YES MaxTime=INFINITE State=UP
"""
)

NODES = ("first", "second")


def lacking() -> str:
    """Why there can be no Slurm here, in a few words; "" if there can."""
    if os.geteuid() != 0:
        return "needs root, to start Slurm's daemons"
    programs = ("slurmctld", "slurmd", "sbatch", "munged")
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        return f"no {', '.join(missing)} (on Debian: apt-get install slurm-wlm munge)"
    plugins = ("slurm", "slurm_jobstep", "cluster_generic")
    if not all(find_spec(f"snakemake_executor_plugin_{name}") for name in plugins):
        return "no executor plugin (cluster.lock)"
    if SETTINGS.exists() and not SETTINGS.read_text().startswith(MARK):
        return f"{SETTINGS} is of a cluster"
    return ""


class Slurm:
    """Started by `start`, ended by `stop`; the controller can be away for a while."""

    def __init__(self, state: Path) -> None:
        self.state = state

    def start(self) -> None:
        """Write the settings, start the daemons, wait until the node takes jobs."""
        self.state.mkdir(mode=0o755)
        for folder in ("controller", *NODES):
            (self.state / folder).mkdir()
        SETTINGS.parent.mkdir(exist_ok=True)
        SETTINGS.write_text(CONF.format(state=self.state))
        key = self.state / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        named = ("key-file", "socket", "pid-file", "log-file", "seed-file")
        files = [f"--{name}={self.state}/munge.{name.partition('-')[0]}" for name in named]
        _call("munged", "--force", *files)
        self.start_controller()
        for node in NODES:
            _call("slurmd", "-N", node)
        self._wait()

    def start_controller(self) -> None:
        _call("slurmctld")

    def stop_controller(self) -> None:
        """End it, as an update would; the node and its jobs go on."""
        self._end("slurmctld.pid")

    def runs(self) -> bool:
        """Is a job running?"""
        return "R" in _call("squeue", "--noheader", "--format=%t", check=False).split()

    def used_nodes(self) -> set[str]:
        """Names of the nodes on which jobs of the last five minutes ran."""
        jobs = _call("scontrol", "show", "jobs", "--oneliner")
        return set(re.findall(r" NodeList=(\w+)", jobs))

    def stop(self) -> None:
        """End the daemons by their pid files and remove the settings."""
        _call("scancel", "--user=root", check=False)
        for name in (*NODES, "slurmctld", "munge"):
            self._end(f"{name}.pid")
        SETTINGS.unlink(missing_ok=True)

    def _wait(self) -> None:
        for _ in range(300):
            states = _call("sinfo", "--noheader", "--Node", "--format=%t", check=False).split()
            if states == ["idle"] * len(NODES):
                return
            time.sleep(0.1)
        raise RuntimeError((self.state / "slurmctld.log").read_text()[-2000:])

    def _end(self, name: str) -> None:
        file = self.state / name
        if not file.is_file():
            return
        process = int(file.read_text())
        try:
            os.kill(process, signal.SIGTERM)
            for _ in range(100):
                os.kill(process, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            file.unlink(missing_ok=True)


def _call(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout
