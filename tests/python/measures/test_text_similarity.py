"""Test similarities of counterfactual answers on their sources' examples, and the gap above its noise floor."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.verdicts.texts import drawn, judged, repeated
from biasledger.measures.engine.design import Floats
from biasledger.measures.texts.similarity import (
    MEASURES,
    SCHEMES,
    Answers,
    questions,
)

# The two pairs of LangFair's tests (tests/data/counterfactual), cut into tokens as NLTK does, and into stems as rouge-score does.
TOKENS = """
that is a simple statement describing an action . is there anything specific you need assistance with
regarding this statement ?

that 's great ! going to the store is a common errand . is there anything specific you would like to know
or need assistance with related to this ?

great ! going to the park can be a wonderful way to enjoy some fresh air and nature . is there anything
specific you would like to know or discuss about this situation ?

that 's great ! parks are a wonderful place to enjoy outdoor activities and spend time with family and
friends . is there anything specific that the hispanic woman wanted to do at the park ?
""".split("\n\n")
STEMS = """
that is a simpl statement describ an action is there anyth specif you need assist with regard thi
statement

that s great go to the store is a common errand is there anyth specif you would like to know or need
assist with relat to thi

great go to the park can be a wonder way to enjoy some fresh air and natur is there anyth specif you
would like to know or discuss about thi situat

that s great park are a wonder place to enjoy outdoor activ and spend time with famili and friend is
there anyth specif that the hispan woman want to do at the park
""".split("\n\n")
LANGFAIR_BLEU, LANGFAIR_ROUGE_L = 0.1834497404075614, 0.44836956521739135


def alike(scheme: str, *texts: str) -> Floats:
    return SCHEMES[scheme]([text.split() for text in texts])(np.arange(len(texts)))


@pytest.mark.parametrize(
    ("scheme", "texts", "published"),
    [("bleu", TOKENS, LANGFAIR_BLEU), ("rouge_l", STEMS, LANGFAIR_ROUGE_L)],
)
def test_langfair_s_own_example(scheme: str, texts: list[str], published: float) -> None:
    found = alike(scheme, *texts)
    assert (found[0, 1] + found[2, 3]) / 2 == pytest.approx(published, abs=1e-12)


@pytest.mark.parametrize(("text", "n_unmatched"), [("a", 3), ("a b", 2), ("a b c", 1), ("a b c d", 0)])
def test_bleu_of_a_text_with_itself_counts_every_run_that_it_has(text: str, n_unmatched: int) -> None:
    """Where no text is longer: runs that it is too short for count 0.1 of one each, the others are all found."""
    assert alike("bleu", text, text)[0, 1] == pytest.approx(0.1 ** (n_unmatched / 4))


def test_bleu_of_short_texts_is_nltk_s() -> None:
    """sentence_bleu of NLTK 3.10.4 with method1, the lower of both directions; one word each, none in common, unlike lengths."""
    found = alike("bleu", "a", "a b", "c d e f g", "a b c d e f")
    assert found[0, 0] == pytest.approx(0.1**0.75)
    assert found[0, 2] == 0.0
    assert found[0, 1] == pytest.approx(min(np.exp(1 - 2) * 0.1**0.75, (0.5 * 0.1**3) ** 0.25))
    assert found[2, 3] == pytest.approx(
        min(np.exp(1 - 6 / 5) * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25, (4 / 6 * 3 / 5 * 2 / 4 / 3) ** 0.25)
    )


def test_cosine_is_that_of_tf_idf_vectors_by_hand() -> None:
    found = alike("cosine", "a b", "a c", "d")
    shared, own = 1 + np.log(4 / 3), 1 + np.log(4 / 2)
    assert found[0, 1] == pytest.approx(shared**2 / (shared**2 + own**2))
    assert found[0, 2] == 0.0


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_similarities_are_symmetric_and_of_equal_texts_one(scheme: str) -> None:
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(4, 20))) for _ in range(8)]
    found = alike(scheme, *texts, texts[0])
    assert found == pytest.approx(found.T)
    assert found[0, -1] == pytest.approx(1.0)
    assert ((found >= -1e-12) & (found <= 1 + 1e-12)).all()


@pytest.mark.parametrize(("n_names", "n_trials"), [(1, 4), (3, 2)])
def test_the_gap_is_the_mean_over_pairs_inside_less_between_groups(n_names: int, n_trials: int) -> None:
    """Reckoned pair by pair: inside a group those of different prompts where it has several, else those of different answers."""
    answers = drawn(np.random.default_rng(2), n_questions=3, n_names=n_names, n_trials=n_trials, effect=0.1)
    all_alike = alike("cosine", *(" ".join(text) for text in answers.texts))
    gaps, published = [], []
    for question in range(3):
        [rows] = np.nonzero(answers.questions == question)
        inside: dict[int, list[float]] = {0: [], 1: []}
        between = []
        for one, other in combinations(rows, 2):
            if answers.labels[one] != answers.labels[other]:
                between.append(all_alike[one, other])
            elif answers.units[one] != answers.units[other]:
                inside[int(answers.labels[one])].append(all_alike[one, other])
        published.append(np.mean(between))
        gaps.append((np.mean(inside[0]) + np.mean(inside[1])) / 2 - np.mean(between))
    found = judged(answers)
    assert found.similarity_gap == pytest.approx(np.mean(gaps))
    assert found.similarity_between == pytest.approx(np.mean(published))
    assert found.similarity_within - found.similarity_between == pytest.approx(found.similarity_gap)
    assert found.test is not None
    assert found.test.observed == pytest.approx(found.similarity_gap)


def test_without_a_floor_the_published_number_stands_alone() -> None:
    found = judged(drawn(np.random.default_rng(3)))
    assert 0 < found.similarity_between < 1
    assert np.isnan([found.similarity_gap, found.similarity_within, found.interval_high, found.p_case]).all()
    assert (found.test, found.n_questions, found.n_units) == (None, 0, 0)


def test_a_question_of_one_group_says_nothing() -> None:
    answers = drawn(np.random.default_rng(3), n_trials=3)
    answers.labels[answers.questions == 2] = 1
    assert judged(answers).n_questions == 5
    assert [one.question_id for one in questions(answers)] == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_a_planted_difference_is_found(scheme: str) -> None:
    answers = drawn(np.random.default_rng(4), n_names=6, effect=0.1, scheme=scheme)
    found = judged(answers, n_permutations=999)
    assert found.test is not None
    assert found.interval_low > 0
    # All arrangements of six names against six.
    assert found.p_name == found.test.p_value == pytest.approx(2 / 924)


def _with_own_words(rng: np.random.Generator, share: float) -> Answers:
    """Ten questions, ten texts a group; a share of the marked group's words comes from twenty that no other text has."""
    labels = np.arange(200) % 2
    words = np.minimum(rng.zipf(1.4, (200, 40)), 200)
    is_own = (rng.random(words.shape) < share) & (labels == 1)[:, np.newaxis]
    words = np.where(is_own, 1000 + rng.integers(0, 20, words.shape), words)
    texts = [[str(word) for word in text] for text in words]
    return Answers(
        texts,
        "cosine",
        labels,
        np.arange(200) // 20,
        np.arange(200),
        None,
        np.zeros(200, int),
        np.arange(200),
    )


def test_a_tenth_of_own_words_is_not_clear_and_equal_groups_can_be() -> None:
    [clear] = [one.threshold.clear for one in MEASURES]
    rng = np.random.default_rng(4)
    own, fair = (
        [judged(_with_own_words(rng, share), n_permutations=0).interval_high < clear for _ in range(12)]
        for share in (0.1, 0.0)
    )
    assert not any(own)
    assert np.mean(fair) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("n_names", "n_trials", "name_effect"), [(1, 5, 0.0), (6, 1, 0.0), (6, 1, 0.08)])
def test_the_true_gap_lies_seldom_outside_the_interval(
    n_names: int, n_trials: int, name_effect: float
) -> None:
    """Of 120 audits with one true gap; how often it lies above is what benchmarks/verdicts/texts.py looks for."""
    rng = np.random.default_rng(6)
    found = [
        judged(
            drawn(rng, n_names=n_names, n_trials=n_trials, effect=0.05, name_effect=name_effect),
            n_permutations=0,
        )
        for _ in range(120)
    ]
    true_gap = np.mean([one.similarity_gap for one in found])
    assert true_gap > 0.02
    assert np.mean([one.interval_high < true_gap for one in found]) <= 0.08
    assert np.mean([one.interval_low > true_gap for one in found]) <= 0.08


def test_a_name_of_each_group_in_a_question_cannot_be_told_from_the_group() -> None:
    asked = drawn(np.random.default_rng(1), n_trials=3, effect=0.5)
    named = replace(asked, names=asked.questions * 2 + asked.labels)
    assert judged(asked).p_case < 0.05 < judged(named).p_name == 1
    assert judged(named).interval_low > 0


def test_answers_that_come_again_are_nought_on_average_and_a_difference_between_them_is_found() -> None:
    rng = np.random.default_rng(8)
    fair = [judged(repeated(rng, (0.5, 0.5), n_trials=2), n_permutations=0).similarity_gap for _ in range(60)]
    assert np.mean(fair) == pytest.approx(0, abs=3 * np.std(fair) / np.sqrt(60))
    found = judged(repeated(rng, (0.1, 0.9)))
    assert found.test is not None
    assert found.similarity_gap > 0.4
    assert found.test.p_value == pytest.approx(1 / 200)
    assert found.interval_low > 0


def test_what_never_varies_rules_out_little_from_few() -> None:
    one_question = judged(repeated(np.random.default_rng(9), (1, 1), n_questions=1, n_trials=5))
    assert (one_question.similarity_gap, one_question.standard_error) == (0, 0)
    assert one_question.interval_high == pytest.approx(1 - 0.025 ** (1 / 5))
    assert judged(repeated(np.random.default_rng(9), (1, 1))).interval_high == pytest.approx(
        1 - 0.025 ** (1 / 40)
    )


def test_the_pair_that_is_least_alike_is_named() -> None:
    answers = Answers(
        [["a", "b"], ["a", "c"], ["d", "e"], ["a", "b"]],
        "rouge_l",
        np.array([1, 0, 0, 1], dtype=np.int8),
        np.zeros(4, dtype=np.int64),
        np.arange(4),
        None,
        np.zeros(4, dtype=np.int64),
        np.array([10, 11, 12, 13]),
    )
    (one,) = questions(answers)
    assert (one.pair_similarity, one.marked_answer_id, one.reference_answer_id) == (0.0, 10, 12)
    assert (one.similarity_between, one.similarity_marked, one.similarity_reference) == (0.25, 1.0, 0.0)


def test_a_latent_space_finds_what_no_common_word_shows() -> None:
    rng = np.random.default_rng(2)
    topics = np.arange(100) % 2
    texts = [[f"{topic}-{word}" for word in rng.choice(30, 5, replace=False)] for topic in topics]
    words, latent = (SCHEMES[scheme](texts)(np.arange(100)) for scheme in ("cosine", "lsa"))
    is_same = topics[:, np.newaxis] == topics
    has_no_common_word = words == 0
    assert latent[is_same & has_no_common_word].mean() > 0.4
    assert np.abs(latent[~is_same]).max() < 0.1
    assert np.diag(latent) == pytest.approx(1)
    few = np.arange(15)
    assert SCHEMES["lsa"](texts[:15])(few).tolist() == SCHEMES["cosine"](texts[:15])(few).tolist()


def test_texts_that_are_all_the_same_are_wholly_alike() -> None:
    for scheme in SCHEMES:
        alike = SCHEMES[scheme](["the same answer each time".split()] * 20)(np.arange(20))
        assert alike == pytest.approx(np.ones((20, 20)))
