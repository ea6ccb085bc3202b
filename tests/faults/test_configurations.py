"""A sample of the attack on the configuration; all of it: python tests/faults/configurations.py."""

from configurations import answer, cases


def test_wrong_files_are_refused_in_one_line_that_names_file_and_key(tmp_path):
    answers = [(case, *answer(case, tmp_path)) for case in cases(60, seed=1)]
    wrong = [(c.source, c.place, c.kind, how, said) for c, how, said in answers if how != "refused"]
    assert len(wrong) <= 1, wrong
    assert not [each for each in wrong if each[3] in ("traceback", "slow")]
