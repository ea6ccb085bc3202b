import numpy as np

from crowdlab.code import LabelQuality, Vote, drawn, quality, ranked
from noisylabels import OneCoin


def test_ties_of_the_vote_are_broken_by_the_classifier_and_nothing_else_is():
    labels = [[0, 1, None], [0, 0, 1], [1, 1, None]]
    p = np.array([[0.1, 0.9], [0.01, 0.99], [0.6, 0.4]])
    vote = Vote([0, 1]).fit(labels, p)
    assert vote.labels_.tolist() == [1, 0, 1]
    assert vote.confidence_.tolist() == [0.5, 2 / 3, 1.0]
    assert vote.quality_.tolist() == [2 / 3, 1.0, 0.0]
    by_p = LabelQuality([0, 1]).fit(labels, p)
    assert by_p.labels_.tolist() == [1, 0, 1]
    np.testing.assert_allclose(by_p.confidence_, [0.9, 0.01, 0.4])


def test_labels_are_drawn_without_replacement_and_all_are_equally_likely():
    item = np.repeat([2, 0, 1], [4, 2, 1])
    rng = np.random.default_rng(0)
    wanted = np.array([1, 5, 3])
    draws = [drawn(item, wanted, rng) for _ in range(4000)]
    for draw in draws:
        labels_of_items = np.bincount(item[draw])
        assert labels_of_items.tolist() == [1, 1, 3]
    counts = np.bincount(np.concatenate(draws), minlength=7)
    shares = counts / 4000
    expected = np.repeat([0.75, 0.5, 1.0], [4, 2, 1])
    np.testing.assert_allclose(shares, expected, atol=0.03)


def test_a_perfect_ranking_and_one_by_chance():
    wrong = np.arange(1000) < 100
    rng = np.random.default_rng(0)
    coins = rng.random(1000)
    perfect_scores = wrong.astype(float)
    best = ranked(wrong, perfect_scores, coins, [50, 200])
    assert best == {"auroc": 1.0, "auprc": 1.0, "lift 50": 10.0, "lift 200": 5.0}
    equal_scores = np.zeros(1000)
    by_chance = ranked(wrong, equal_scores, coins, [200])
    assert by_chance["auroc"] == 0.5
    lift = by_chance["lift 200"]
    assert abs(lift - 1) < 0.4


def test_labels_that_are_sure_beyond_rounding_are_still_ranked():
    labels = np.zeros((40, 60))
    labels[20:] = 1
    labels[0, :3] = 1
    model = OneCoin([0, 1], smoothing=1)
    model.fit(labels)
    first_confidence, second_confidence = model.confidence_[:2]
    assert first_confidence == 1.0
    assert second_confidence == 1.0
    qualities = quality(model, model.labels_)
    first, second = qualities[:2]
    assert first < second < 0
