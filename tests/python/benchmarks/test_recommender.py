"""Test the generated reviews, and the costs of training from them by part."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.recommender import MEAN_WORDS, MIN_REVIEWS, run, write_reviews
from collector.errors import InputError


def test_generated_reviews_have_the_lengths_and_venues_of_real_ones(tmp_path: Path) -> None:
    write_reviews(tmp_path, n_reviews=3_000, n_venues=10)
    reviews = [json.loads(line) for line in (tmp_path / "review.json").read_text("utf-8").splitlines()]
    of_venue = Counter(one["business_id"] for one in reviews)
    assert len(reviews) == len({one["review_id"] for one in reviews}) == 3_000
    assert min(of_venue.values()) >= MIN_REVIEWS
    assert max(of_venue.values()) > 3 * MIN_REVIEWS
    words = [one["text"].split() for one in reviews]
    assert sum(map(len, words)) / 3_000 == pytest.approx(MEAN_WORDS, rel=0.1)
    uses = Counter(word.lower().strip(".") for text in words for word in text)
    # Zipf's law: the hundredth word is used about a hundredth as often as the first, and many are used once.
    first, *others = (n for _, n in uses.most_common())
    assert 15 < first / others[98] < 60
    assert others.count(1) > len(others) / 4
    assert sum("We went to The" in one["text"] for one in reviews) == pytest.approx(1_000, rel=0.1)


def test_each_part_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    records = run(sizes=[600, 1_200], n_venues=4)
    assert {(one.name, one.unit) for one in records} == {
        (f"recommender: {part}", unit)
        for part in ("train", "evaluate", "recommend")
        for unit in ("processor s", "peak GiB")
    }
    assert all(one.value > 0 for one in records)
    printed = capsys.readouterr().out
    assert "lbfgs" in printed
    assert "recommender: train, peak GiB: grows as answers to the power of" in printed


def test_too_few_reviews_for_its_venues_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="500 reviews are fewer than 100 for each of 10 venues"):
        write_reviews(tmp_path, n_reviews=500, n_venues=10)
