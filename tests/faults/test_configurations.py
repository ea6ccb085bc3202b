"""A sample of the attack on the configuration; all of it: python tests/faults/configurations.py."""

from configurations import answer, cases


def test_wrong_files_are_refused_in_one_line_that_names_file_and_key(tmp_path):
    answers = [(case, *answer(case, tmp_path)) for case in cases(60, seed=1)]
    wrong = []
    for case, how, said in answers:
        # a class of scikit-learn looks at its parameters when it is fitted
        fitted = case.kind == "wrong type" and "parameters" in case.place
        if how != "refused" and not fitted:
            wrong.append((case.source, case.place, case.kind, how, said))
    assert len(wrong) <= 1, wrong
    assert not [each for each in wrong if each[3] in ("traceback", "slow")]
