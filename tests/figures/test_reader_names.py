"""Names for readers: one file says them, and tables follow."""

import pandas as pd

from reproduction.figures import names


def test_a_key_without_a_name_is_shown_as_it_is():
    assert names.method("my_method") == "my_method"
    assert names.method("one_pred_u") == "one label and prediction, v unknown"
    assert names.noise("independent 0.3") == "30 % symmetric"
    assert names.setting("shared_r") == "one r for all rules"


def test_a_table_gets_names_in_header_sections_and_cells():
    frame = pd.DataFrame({"klr": ["1"], "klr, printed": ["2"], "one": ["rklr"]}, index=["klr"])
    frame.attrs["note"] = "klr"
    frame["noise"] = ["negative_only 0.2"]
    named = names.of_table(frame, {"klr", "rklr"}, {"negative_only 0.2", ""})
    assert named.pop("noise").to_list() == ["20 % asymmetric"]
    assert list(named.columns) == ["KLR", "KLR, printed", "one"]
    assert list(named.index) == ["KLR"]
    assert named["one"].to_list() == ["rKLR"]
    assert named.attrs["note"] == "klr"
