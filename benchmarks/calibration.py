"""How often alarms are wrong where no difference exists, and what they miss where one is known, on real texts.

The texts are GPT-4 personas, 90 for each of 15 race × gender cells. A random split of one cell has no true difference.
Contrasts of all texts (four races against White, two genders against M) give truths that subsamples can be held against.
Texts are split into words and identity terms removed by the warehouse's own SQL.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import sparse, stats
from threadpoolctl import threadpool_limits

from benchmarks.processes import PACKAGE_PARENT, BenchmarkError
from benchmarks.warehouses import UsersProject, schema_of
from biasledger.measures.engine.design import Design, Integers, Labels
from biasledger.measures.words.classifier_accuracy import classifier_accuracy
from biasledger.measures.words.divergence import divergence
from biasledger.measures.words.log_odds import marked_words
from biasledger.measures.words.published import five_fold_accuracy
from biasledger.project import dbt_source
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit

AUDIT = PACKAGE_PARENT / "audits" / "replications" / "personas.yml"
DATA = Path("personas-gpt4") / "personas.parquet"
N_A_SIDE = 15
REFERENCES = {"race": "White", "gender": "M"}
OTHER = {"race": "gender", "gender": "race"}
CANDIDATE_THRESHOLDS = (0.01, 0.02, 0.03, 0.05)
PUBLISHED_JSD, PUBLISHED_ACCURACY, PUBLISHED_Z = 0.10, 0.80, 1.96


@dataclass(frozen=True)
class Threshold:
    """A measure's row of thresholds.csv that holds for every audit and attribute."""

    threshold: float
    clear_threshold: float
    alpha: float


@dataclass(frozen=True)
class Texts:
    """Word counts of all texts, (n_texts, n_words), and the groups each stands for."""

    counts: sparse.csr_array
    groups: Mapping[str, NDArray[np.str_]]

    def cells(self) -> list[Integers]:
        """Positions of the texts of each race × gender cell, in the order of their names."""
        names = np.char.add(np.char.add(self.groups["race"], "*"), self.groups["gender"])
        return [np.flatnonzero(names == name) for name in np.unique(names)]

    def contrasts(self) -> list[tuple[str, str]]:
        """Attribute and group of every contrast with a reference."""
        return [
            (attribute, str(group))
            for attribute, reference in REFERENCES.items()
            for group in np.unique(self.groups[attribute])
            if group != reference
        ]


@dataclass(frozen=True)
class Judged:
    """One comparison: values on the scale the findings judge, p-values, intervals; and what the published rules look at."""

    jsd: float
    jsd_debiased: float
    jsd_p: float
    jsd_interval: tuple[float, float]
    accuracy: float
    accuracy_p: float
    accuracy_interval: tuple[float, float]
    word_p: float
    word_z: float
    published_accuracy: float
    largest_z: float


def find_data(given: Path | None) -> Path:
    """The personas file: as given, in $BIASLEDGER_DATA, or in ../shared/data next to the repository.

    Raises:
        BenchmarkError: it is not there.
    """
    folders = [Path(os.environ["BIASLEDGER_DATA"])] if os.environ.get("BIASLEDGER_DATA") else []
    folders.append(PACKAGE_PARENT.parent / "shared" / "data")
    candidates = [given] if given is not None else [folder / DATA for folder in folders]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise BenchmarkError(
        f"The personas texts are not at {' or '.join(map(str, candidates))}: name the file with --data, or the folder that "
        f"holds {DATA} in BIASLEDGER_DATA."
    )


def read_texts(data: Path) -> Texts:
    """Import the file, build it in a scratch folder, and read the features of scheme `words`.

    Raises:
        BenchmarkError: the build failed.
        InputError: the file is not one of personas.
    """
    with tempfile.TemporaryDirectory(prefix="biasledger-calibration-") as scratch:
        project = UsersProject(Path(scratch) / "project", permutations=False)
        import_file(load_audit(AUDIT), AUDIT, data, project.ledger, show_progress=False)
        project.run("build", "build")
        with duckdb.connect(str(project.work), read_only=True) as connection:
            schema = schema_of(connection, "int_words_features")
            units = connection.execute(
                f"""
                select units.unit_id, race.group_name as race, gender.group_name as gender
                from {schema}.int_words_units as units
                inner join {schema}.int_prompt_groups as race
                    on units.prompt_id = race.prompt_id and race.attribute = 'race'
                inner join {schema}.int_prompt_groups as gender
                    on units.prompt_id = gender.prompt_id and gender.attribute = 'gender'
                where units.scheme = 'words'
                order by units.unit_id
                """
            ).fetchnumpy()
            features = connection.execute(
                f"select unit_id, word_id, n_occurrences from {schema}.int_words_features"
            ).fetchnumpy()
    counts = sparse.csr_array((features["n_occurrences"], (features["unit_id"], features["word_id"])))
    groups = {name: np.asarray(units[name]).astype(np.str_) for name in REFERENCES}
    return Texts(counts[units["unit_id"]], groups)


def read_thresholds() -> dict[str, Threshold]:
    """The shipped thresholds of the measures of words."""
    with (dbt_source() / "seeds" / "thresholds.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["audit"], row["attribute"]) == ("*", "*")]
    return {
        row["measure"]: Threshold(float(row["threshold"]), float(row["clear_threshold"]), float(row["alpha"]))
        for row in rows
    }


def null_splits(texts: Texts, *, n_splits: int, n_permutations: int, seed: int) -> list[Judged]:
    """Random halves, 15 texts a side, of one cell's texts; cells in turn."""
    cells, judged = texts.cells(), []
    for split in range(n_splits):
        rng = np.random.default_rng([seed, 0, split])
        units = rng.choice(cells[split % len(cells)], size=2 * N_A_SIDE, replace=False)
        labels = np.repeat(np.array([1, 0], dtype=np.int8), N_A_SIDE)
        strata = np.zeros(units.size, dtype=np.int64)
        judged.append(
            judge(texts.counts[units], labels, strata, n_permutations, seed=int(rng.integers(2**31)))
        )
    return judged


def confounded_splits(
    texts: Texts, *, n_splits: int, n_permutations: int, seed: int, stratified: bool = True
) -> list[Judged]:
    """Random labels, 15 texts a side, that are no difference within a gender but go with gender: 12 of 15 M, 3 of 15 N.

    Permuting within genders keeps the alarms honest; stratified=False permutes across them, as a check that this shows.
    """
    races, judged = np.unique(texts.groups["race"]), []
    labels = np.repeat(np.array([1, 0, 1, 0], dtype=np.int8), [12, 3, 3, 12])
    strata = np.repeat(np.array([0, 1]), N_A_SIDE) if stratified else np.zeros(2 * N_A_SIDE, dtype=np.int64)
    for split in range(n_splits):
        rng = np.random.default_rng([seed, 2, split])
        is_race = texts.groups["race"] == races[split % races.size]
        units = np.concatenate(
            [
                rng.choice(
                    np.flatnonzero(is_race & (texts.groups["gender"] == gender)), size=N_A_SIDE, replace=False
                )
                for gender in ("M", "N")
            ]
        )
        judged.append(
            judge(texts.counts[units], labels, strata, n_permutations, seed=int(rng.integers(2**31)))
        )
    return judged


def true_contrast(texts: Texts, attribute: str, group: str) -> tuple[Integers, Labels, Integers]:
    """Positions, labels and strata (the other attribute) of all texts of a contrast."""
    names = texts.groups[attribute]
    units = np.flatnonzero((names == group) | (names == REFERENCES[attribute]))
    _, strata = np.unique(texts.groups[OTHER[attribute]][units], return_inverse=True)
    return units, (names[units] == group).astype(np.int8), strata.astype(np.int64)


def subsamples(
    texts: Texts, attribute: str, group: str, *, n_subsamples: int, n_permutations: int, seed: int
) -> list[Judged]:
    """Subsamples of a true contrast, 15 texts a side, as many from each stratum."""
    units, labels, strata = true_contrast(texts, attribute, group)
    strata_names = np.unique(strata)
    each = N_A_SIDE // strata_names.size
    judged = []
    for number in range(n_subsamples):
        rng = np.random.default_rng([seed, 1, number])
        drawn = np.concatenate(
            [
                rng.choice(np.flatnonzero((labels == label) & (strata == stratum)), size=each, replace=False)
                for label in (1, 0)
                for stratum in strata_names
            ]
        )
        judged.append(
            judge(
                texts.counts[units[drawn]],
                labels[drawn],
                strata[drawn],
                n_permutations,
                seed=int(rng.integers(2**31)),
            )
        )
    return judged


def judge(
    counts: sparse.csr_array, labels: Labels, strata: Integers, n_permutations: int, *, seed: int
) -> Judged:
    """One comparison by all measures of words; counts (n_texts, n_words)."""
    design = Design(labels, strata)
    features = sparse.csr_array(counts[:, np.flatnonzero(counts.sum(axis=0))])
    prior = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    with threadpool_limits(limits=1):
        jsd = divergence(features, design, n_permutations=n_permutations, seed=seed)
        svm = classifier_accuracy(
            features, design, np.arange(labels.size), n_permutations=n_permutations, seed=seed
        )
        words = marked_words(
            features, design, prior=prior, prior_total=float(prior.sum()), n_permutations=n_permutations, alpha=0.05, seed=seed
        )  # fmt: skip
        published = five_fold_accuracy(features, labels)
    if jsd.test is None or svm.test is None or words.family is None:
        raise ValueError("a comparison needs labels that can move")
    z_scores, word_p = np.abs(words.audit.z_score), words.family.p_value_adjusted
    smallest_p = float(np.nanmin(word_p))
    return Judged(
        jsd=jsd.jsd,
        jsd_debiased=jsd.test.debiased,
        jsd_p=jsd.test.p_value,
        jsd_interval=(jsd.interval_low, jsd.interval_high),
        accuracy=svm.balanced_accuracy,
        accuracy_p=svm.test.p_value,
        accuracy_interval=(svm.interval_low, svm.interval_high),
        word_p=smallest_p,
        # The strongest word, as findings pick it: the smallest p, among equals the largest |z|.
        word_z=float(z_scores[word_p == smallest_p].max()),
        published_accuracy=published.mean,
        largest_z=float(z_scores.max()),
    )


def alarms(judged: list[Judged], thresholds: Mapping[str, Threshold]) -> dict[str, int]:
    """How many comparisons fire by each rule: ours by p alone, ours as findings judge, the published ones."""
    jsd, svm, words = (
        thresholds[name] for name in ("word_divergence", "classifier_accuracy", "marked_words")
    )
    return {
        "word_divergence: p < alpha": sum(one.jsd_p < jsd.alpha for one in judged),
        f"word_divergence: and debiased >= {jsd.threshold:g}": sum(
            one.jsd_p < jsd.alpha and one.jsd_debiased >= jsd.threshold for one in judged
        ),
        "classifier_accuracy: p < alpha": sum(one.accuracy_p < svm.alpha for one in judged),
        f"classifier_accuracy: and accuracy >= {svm.threshold:g}": sum(
            one.accuracy_p < svm.alpha and one.accuracy >= svm.threshold for one in judged
        ),
        "marked_words: smallest adjusted p < alpha": sum(one.word_p < words.alpha for one in judged),
        f"marked_words: and |z| >= {words.threshold:g}": sum(
            one.word_p < words.alpha and one.word_z >= words.threshold for one in judged
        ),
        "published: JSD > 0.10 nats": sum(one.jsd * np.log(2) > PUBLISHED_JSD for one in judged),
        "published: JSD > 0.10 bits": sum(one.jsd > PUBLISHED_JSD for one in judged),
        "published: accuracy > 0.80": sum(one.published_accuracy > PUBLISHED_ACCURACY for one in judged),
        "published: any |z| > 1.96": sum(one.largest_z > PUBLISHED_Z for one in judged),
    }


def covers(interval: tuple[float, float], truth: float) -> bool:
    """Whether an interval holds a value."""
    return interval[0] <= truth <= interval[1]


def share(count: int, n: int) -> str:
    """A share with its 95 % Wilson interval."""
    interval = stats.binomtest(count, n).proportion_ci(method="wilson")
    return f"{count / n:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def run(*, data: Path | None, n_splits: int, n_permutations: int, seed: int) -> None:
    """Measure and print both parts; each true contrast gets a quarter as many subsamples as there are null splits.

    Raises:
        BenchmarkError: the texts are not there, or the warehouse could not be built.
    """
    console = Console(width=118, highlight=False)
    texts, thresholds = read_texts(find_data(data)), read_thresholds()
    console.print(
        f"{texts.counts.shape[0]:,} texts, {N_A_SIDE} a side; {n_splits} null splits, {max(2, n_splits // 4)} subsamples a "
        f"true contrast; {n_permutations} permutations, seed {seed}; intervals: 95 %, Wilson."
    )
    null = null_splits(texts, n_splits=n_splits, n_permutations=n_permutations, seed=seed)
    confounded = confounded_splits(texts, n_splits=n_splits, n_permutations=n_permutations, seed=seed)
    console.print(_null_table(null, confounded, thresholds))
    _print_true_contrasts(console, texts, null, thresholds, max(2, n_splits // 4), n_permutations, seed)


def _null_table(null: list[Judged], confounded: list[Judged], thresholds: Mapping[str, Threshold]) -> Table:
    table = Table("rule", "splits of one persona", "genders unequal", "goal",
                  title="Share of splits without a true difference", title_justify="left")  # fmt: skip
    fired, fired_confounded = alarms(null, thresholds), alarms(confounded, thresholds)
    for rule, count in fired.items():
        goal = "" if rule.startswith("published") else "<= 0.05 + error"
        table.add_row(rule, share(count, len(null)), share(fired_confounded[rule], len(confounded)), goal)
    covered = {
        "interval of the divergence holds 0": sum(covers(one.jsd_interval, 0.0) for one in null),
        "interval of the accuracy holds 0.5": sum(covers(one.accuracy_interval, 0.5) for one in null),
    }
    for name, count in covered.items():
        table.add_row(name, share(count, len(null)), "", ">= 0.93")
    raw, debiased = (np.array([getattr(one, name) for one in null]) for name in ("jsd", "jsd_debiased"))
    table.add_row("divergence, bits: mean raw, mean and sd debiased",
                  f"{raw.mean():.3f}, {debiased.mean():.4f}, {debiased.std(ddof=1):.4f}", "", "")  # fmt: skip
    return table


def _print_true_contrasts(
    console: Console,
    texts: Texts,
    null: list[Judged],
    thresholds: Mapping[str, Threshold],
    n_subsamples: int,
    n_permutations: int,
    seed: int,
) -> None:
    jsd_limit, svm_limit = thresholds["word_divergence"], thresholds["classifier_accuracy"]
    divergences = Table("contrast", "all texts", "mean at 15", "covers", "p < 0.05", "clear, wrongly",
                        title="Divergence beyond chance, bits", title_justify="left")  # fmt: skip
    accuracies = Table("contrast", "all texts", "mean at 15", "covers", "p < 0.05", "alarm", "clear, wrongly", "words p < 0.05",
                       title="Balanced accuracy, and marked words", title_justify="left")  # fmt: skip
    power = Table("debiased bits, p < 0.05", *(f">= {limit:g}" for limit in CANDIDATE_THRESHOLDS),
                  title="Power of candidate thresholds", title_justify="left")  # fmt: skip
    power.add_row("no difference", *_reached(null))
    pooled: list[Judged] = []
    n_jsd_covered = n_svm_covered = 0
    for attribute, group in texts.contrasts():
        units, labels, strata = true_contrast(texts, attribute, group)
        truth = judge(texts.counts[units], labels, strata, n_permutations, seed=seed)
        drawn = subsamples(
            texts, attribute, group, n_subsamples=n_subsamples, n_permutations=n_permutations, seed=seed
        )
        name = f"{group} vs {REFERENCES[attribute]}"
        jsd_covered = sum(covers(one.jsd_interval, truth.jsd_debiased) for one in drawn)
        svm_covered = sum(covers(one.accuracy_interval, truth.accuracy) for one in drawn)
        jsd_clear = sum(one.jsd_interval[1] < jsd_limit.clear_threshold for one in drawn)
        svm_clear = sum(one.accuracy_interval[1] < svm_limit.clear_threshold for one in drawn)
        divergences.add_row(
            name,
            f"{truth.jsd_debiased:.3f}",
            f"{np.mean([one.jsd_debiased for one in drawn]):.3f}",
            f"{jsd_covered / n_subsamples:.2f}",
            f"{np.mean([one.jsd_p < jsd_limit.alpha for one in drawn]):.2f}",
            str(jsd_clear) if truth.jsd_debiased >= jsd_limit.threshold else "below the threshold",
        )
        accuracies.add_row(
            name,
            f"{truth.accuracy:.3f}",
            f"{np.mean([one.accuracy for one in drawn]):.3f}",
            f"{svm_covered / n_subsamples:.2f}",
            f"{np.mean([one.accuracy_p < svm_limit.alpha for one in drawn]):.2f}",
            f"{np.mean([one.accuracy_p < svm_limit.alpha and one.accuracy >= svm_limit.threshold for one in drawn]):.2f}",
            str(svm_clear) if truth.accuracy >= svm_limit.threshold else "below the threshold",
            f"{np.mean([one.word_p < thresholds['marked_words'].alpha for one in drawn]):.2f}",
        )
        power.add_row(name, *_reached(drawn))
        pooled += drawn
        n_jsd_covered, n_svm_covered = n_jsd_covered + jsd_covered, n_svm_covered + svm_covered
    for table in (divergences, accuracies, power):
        console.print(table)
    console.print(
        f"Coverage over all six (goal >= 0.93): divergence {share(n_jsd_covered, len(pooled))}, accuracy "
        f"{share(n_svm_covered, len(pooled))}."
    )


def _reached(judged: list[Judged]) -> list[str]:
    return [
        f"{np.mean([one.jsd_p < 0.05 and one.jsd_debiased >= limit for one in judged]):.2f}"
        for limit in CANDIDATE_THRESHOLDS
    ]
