"""The house has floors: a file imports from its own room and from floors below, never from above.

What a job depends on follows: an edit of an SGD loss re-runs no kernel study, one of a figure runs nothing.
"""

import ast
from pathlib import Path

import pytest

from reproduction import artifact as artifacts
from reproduction import methods
from reproduction.frame import dependencies
from reproduction.frame.dependencies import ROOT

FLOORS = [
    {"arrays", "rank_tests", "results", "seeding", "statistics", "strict_yaml"},
    {"compiled"},
    {"noise", "losses"},
    {"kernels"},
    {"theory"},
    {"solvers"},
    {"bases"},
    {"filters", "online", "classifiers"},
    {"auditing"},
    {"protocols"},
    {"figures"},
]
BESIDE = {
    "datasets": {"noise"},
    "frame": {"datasets", "noise", "points", "verdicts"},
    "points": {"datasets"},
    "reference": {"datasets", "frame"},
    "site": {"auditing", "figures", "frame", "reference", "verdicts"},
    "spread": set(),
    "verdicts": {"points"},
}
"""Rooms beside the floors, and what they may use besides the ground floor."""
SHARED = {
    ("auditing", "datasets"),
    ("protocols", "frame.methods"),
    ("protocols", "datasets"),
    ("protocols", "points"),
}
"""What rooms on the floors may use of the rooms beside them."""
HEIGHT = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
EXPERIMENTS = Path(__file__).resolve().parents[1] / "config/experiments"


def imports(file):
    """Modules below noisylabels that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "noisylabels":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noisylabels."):
            yield node.module.removeprefix("noisylabels.")
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("noisylabels.")]
            yield from (name.removeprefix("noisylabels.") for name in names)


def room_of(file):
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def allowed(room, module):
    other = module.partition(".")[0]
    if other == room:
        return True
    if room in BESIDE:
        return other in FLOORS[0] | BESIDE[room]
    if other in BESIDE:
        return (room, module) in SHARED or (room, other) in SHARED
    return HEIGHT[other] < HEIGHT[room]


def test_every_room_has_its_floor():
    rooms = {room_of(file) for file in ROOT.rglob("*.py")} - {"__init__"}
    assert rooms - {"online"} == set(HEIGHT) - {"online"} | set(BESIDE)


def test_no_arrow_runs_up():
    files = [file for file in ROOT.rglob("*.py") if file != ROOT / "__init__.py"]
    up = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in files
        for module in imports(file)
        if not allowed(room_of(file), module)
    ]
    assert not up, "\n".join(up)


def places(files):
    return {str(path.relative_to(ROOT)) for path in files if path.is_relative_to(ROOT)}


def touches(files, forbidden):
    return sorted(place for place in places(files) if place.startswith(tuple(forbidden)))


@pytest.mark.parametrize("name", methods.known())
def test_a_method_depends_on_nothing_above_or_beside_it(name):
    files = dependencies.method_files(name)
    forbidden = ["protocols/", "figures/", "frame/", "verdicts/", "datasets/"]
    if ".filters." in methods.known()[name]:
        forbidden += ["solvers/", "losses/", "kernels/", "classifiers/", "online/"]
    assert not touches(files, forbidden)


NO_INPUT = {
    "ors.": ["losses/", "kernels/", "solvers/", "classifiers/", "theory/", "figures/", "verdicts/"],
    "pnorm.": ["losses/", "kernels/", "solvers/", "classifiers/", "figures/", "verdicts/"],
    "robust_sgd.": ["kernels/", "filters/", "solvers/flipped", "solvers/svm", "solvers/multi", "figures/"],
    "kernels.": ["losses/", "filters/", "solvers/sgd", "classifiers/linear", "figures/", "verdicts/"],
}
"""Protocols -> files that are no input of their jobs."""


def jobs():
    for file in sorted(EXPERIMENTS.glob("*/*.yaml")):
        artifact = artifacts.load(file, "full")
        if "protocol" in artifact.content:
            yield pytest.param(artifact, id=f"{artifact.paper}/{artifact.name}")


@pytest.mark.parametrize("artifact", list(jobs()))
def test_an_edit_re_runs_only_what_it_concerns(artifact):
    protocol = artifact.content["protocol"]
    files = dependencies.library_files([dependencies.protocol_module(protocol)])
    for spec in artifact.settings.get("methods", {}).values():
        files += dependencies.method_files(spec["method"])
    forbidden = [part for start, parts in NO_INPUT.items() if protocol.startswith(start) for part in parts]
    assert not touches(files, [*forbidden, "figures/", "verdicts/"])


def test_a_protocol_is_no_input_of_another_paper_s_jobs():
    for protocol in ("ors.filter_curves", "pnorm.bounds", "robust_sgd.errors", "kernels.errors"):
        own = f"protocols/{protocol.partition('.')[0]}/"
        used = touches(dependencies.library_files([dependencies.protocol_module(protocol)]), ["protocols/"])
        assert all(place.startswith(own) or place.count("/") == 1 for place in used)


def test_the_pieces_of_the_kernel_study_are_found_at_all():
    files = places(dependencies.method_files("robust_kernel_logistic"))
    assert {"solvers/flipped_logistic.py", "compiled/bits.py", "noise/flip_matrix.py"} <= files
