"""The deliberate faults of `seeded_faults.py` still fit the code."""

import pytest
from project import ROOT
from seeded_faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.module)
def test_a_fault_can_be_made_at_one_place(fault: Fault) -> None:
    text = (ROOT / "src" / fault.module).read_text(encoding="utf-8")
    assert text.count(fault.right) == 1, "the module has changed; adapt the fault"
