"""Every strategy has its own r, the best of the grid on a sequence that is not scored."""

from running import rows, typed

from noisylabels.filters.label_budget import run_budget
from noisylabels.seeding import Seeds
from ors.tuned_budget import name_place, tune_r
from reproduction.run.protocol_loop import Loop, Repetition

SETTINGS = {
    "task": {"T": 800, "d": 4, "M": 5, "process_noise": 0.01},
    "tuning_rounds": 800,
    "grids": {"r": [1.0, 10.0, 100.0]},
    "noise": ["uniform", "increasing"],
    "budgets": [1, 2.5],
    "strategies": ["const", "self_tuned"],
}


def test_r_is_the_best_of_the_grid_on_the_sequence_of_the_tuning():
    settings = typed("ors.tuned_budget:tuned_budget", SETTINGS)
    loop = Loop({}, Seeds(1, "test"), range(1))
    tuned = tune_r(settings, loop)["0"]
    assert len(tuned) == 2 * 2 * 2 * 2
    sequence = settings.draw(Repetition(loop.seeds, "tuning 0", {}), "uniform")
    errors = {}
    for r in (1.0, 10.0, 100.0):
        options = {"r": r, "B": 2.5, "strategy": "const", "scaling": True}
        errors[r] = run_budget(**sequence, **options).loss.mean()
    assert tuned[name_place("uniform", "scaling", "const", 2.5)] == min(errors, key=errors.get)


def test_strategies_coincide_at_one_label():
    all_rows = rows("ors.tuned_budget:tuned_budget", SETTINGS)
    errors = {}
    for row in all_rows:
        if row["metric"] == "mse" and row["x"] == 1:
            cell = row["noise"], row["setting"], row["repetition"]
            errors.setdefault(cell, set()).add(row["value"])
    assert len(errors) == 2 * 2 * 2
    assert all(len(values) == 1 for values in errors.values())
