"""A sample of the attack on the configuration; all of it: python tests/faults/configurations.py."""

from configurations import answer, cases


def test_wrong_files_are_refused_in_one_line_that_names_file_and_key(tmp_path):
    wrong = []
    for case in cases(60, seed=1):
        outcome, message = answer(case, tmp_path)
        assert outcome not in ("traceback", "slow"), (
            case.source,
            case.key_path,
            case.kind,
            message,
        )
        if outcome != "refused":
            wrong.append((case.source, case.key_path, case.kind, outcome, message))
    assert len(wrong) <= 1, wrong
