"""Test the step from relations of decisions to arrays: places, order of rows, and impossible rows."""

from __future__ import annotations

from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pytest

from biasledger.measures.decisions.impact_ratios import impact_ratios, impact_tests
from biasledger.measures.decisions.paired import paired_tests
from biasledger.measures.decisions.positions import position_tests
from biasledger.measures.gaps.gap import gaps
from biasledger.model_inputs.decisions import (
    read_blocks,
    read_impact_comparisons,
    read_positions,
)
from biasledger.model_inputs.gaps import read_gap_comparisons
from tests.python.measures.simulated_decisions import levels, versions


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def comparisons_frame(keys=("a", "b")) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "comparison_key": list(keys),
            "run_id": "run",
            "mitigation": "plain",
            "outcome": "rank",
            "outcome_lowest": 0,
            "outcome_highest": 2,
            "domain": "clerk",
            "attribute": "race",
            "comparison": "against_reference",
            "group_name": "black",
            "reference_group": "white",
            "n_candidates": 1,
            "n_permutations": 199,
            "alpha": 0.05,
            "seed": 7,
        }
    )


def members_frame(keys=("a", "b"), highest: int = 2) -> pd.DataFrame:
    parts = []
    for number, key in enumerate(keys):
        units = versions(levels(np.random.default_rng(number), 20, 0.3) >= (2 if highest == 1 else 1))
        parts.append(
            pd.DataFrame(
                {
                    "comparison_key": key,
                    "unit_id": np.arange(80),
                    "label": units.design.labels.astype(int),
                    "stratum_id": units.design.strata,
                    "cluster_id": units.clusters,
                    "n": 1.0,
                    "total": units.total,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def blocks_frame(keys=("a", "b")) -> pd.DataFrame:
    rows = [
        {"block_key": key, "subject_id": subject, "label": label, "value": int(value)}
        for number, key in enumerate(keys)
        for subject, row in enumerate(levels(np.random.default_rng(number), 30, 0.3) == 2)
        for label, value in enumerate(row)
    ]
    return pd.DataFrame(rows)


def positions_frame(keys=("a", "b")) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        {
            "position_key": key,
            "response_id": response,
            "set_id": response // 2,
            "slot": slot,
            "is_top": slot == top,
            "weight": 1.0,
        }
        for key in keys
        for response, top in enumerate(rng.integers(1, 5, 40))
        for slot in range(1, 5)
    ]
    return pd.DataFrame(rows)


def read_gaps(connection, comparisons=None, members=None):
    return list(
        read_gap_comparisons(
            connection.from_df(comparisons_frame() if comparisons is None else comparisons),
            connection.from_df(members_frame() if members is None else members),
        )
    )


def read_impacts(connection, comparisons=None, members=None):
    return list(
        read_impact_comparisons(
            connection.from_df(comparisons_frame() if comparisons is None else comparisons),
            connection.from_df(members_frame(highest=1) if members is None else members),
        )
    )


EVERY = {
    "gaps": (gaps, read_gap_comparisons, (comparisons_frame, members_frame)),
    "ratios": (
        impact_ratios,
        read_impact_comparisons,
        (comparisons_frame, partial(members_frame, highest=1)),
    ),
    "tests of ratios": (
        impact_tests,
        read_impact_comparisons,
        (comparisons_frame, partial(members_frame, highest=1)),
    ),
    "blocks": (paired_tests, read_blocks, (blocks_frame,)),
    "positions": (position_tests, read_positions, (positions_frame,)),
}


@pytest.mark.parametrize(("table", "read", "frames"), EVERY.values(), ids=EVERY)
def test_neither_the_order_of_rows_nor_other_comparisons_change_a_number(connection, table, read, frames):
    def tabled(change):
        given = (connection.from_df(change(frame())) for frame in frames)
        return table(read(*given)).to_pandas()

    whole = tabled(lambda frame: frame)
    assert len(whole) >= 2
    pd.testing.assert_frame_equal(tabled(lambda frame: frame.sample(frac=1, random_state=1)), whole)
    first, *others = (frame() for frame in frames)
    alone = table(read(*map(connection.from_df, (first[first.iloc[:, 0] == "b"], *others)))).to_pandas()
    of_b = whole[whole.iloc[:, 0] == "b"].reset_index(drop=True)
    assert len(of_b) < len(whole)
    pd.testing.assert_frame_equal(alone, of_b)
    assert tabled(lambda frame: frame[:0]).empty


class TestNames:
    def named(self) -> pd.DataFrame:
        frame = members_frame(("a",))
        return frame.assign(
            whole_id=frame["stratum_id"] * 2 + frame["label"],
            name_id=frame["label"] * 5 + frame["cluster_id"] % 5,
            name_stratum_id=0,
            n_candidates=3.0,
        )

    def test_names_and_what_moves_together_are_read(self, connection):
        [one] = read_gaps(connection, comparisons_frame(("a",)), self.named().sample(frac=1, random_state=1))
        frame = self.named()
        assert one.units.names.tolist() == frame["name_id"].tolist()
        assert one.units.wholes.tolist() == frame["whole_id"].tolist()
        assert one.units.name_strata.tolist() == [0] * 80
        assert one.units.n_candidates.tolist() == [3.0] * 80

    def test_of_people_of_whom_one_has_no_name_none_is_a_unit(self, connection):
        frame = self.named()
        frame["name_id"] = frame["name_id"].astype("Int64").mask(frame["unit_id"] == 3)
        [one] = read_gaps(connection, comparisons_frame(("a",)), frame)
        assert one.units.names is None

    def test_a_name_of_both_groups_is_refused(self, connection):
        with pytest.raises(ValueError, match=r"^comparison a: a name is of one group"):
            read_gaps(connection, comparisons_frame(("a",)), self.named().assign(name_id=0))


class TestUnits:
    def test_every_comparison_gets_its_own_units_and_settings(self, connection):
        comparisons = comparisons_frame().assign(n_candidates=[1, 8], seed=[7, 8])
        first, second = read_gaps(connection, comparisons.sample(frac=1, random_state=3))
        assert (first.key, second.key) == ("a", "b")
        assert first.name == ("plain", "rank", "clerk")
        assert (first.lowest, first.highest, first.n_permutations, first.alpha) == (0.0, 2.0, 199, 0.05)
        assert (first.seed, second.seed) == (7, 8)
        assert (first.units.n_candidates, second.units.n_candidates) == (1, 8)
        members = members_frame()
        for one in (first, second):
            expected = members[members["comparison_key"] == one.key]
            assert one.units.design.labels.tolist() == expected["label"].tolist()
            assert one.units.design.strata.tolist() == expected["stratum_id"].tolist()
            assert one.units.clusters.tolist() == expected["cluster_id"].tolist()
            assert one.units.n.tolist() == expected["n"].tolist()
            assert one.units.total.tolist() == expected["total"].tolist()

    def test_impact_comparisons_are_named_by_mitigation_and_domain(self, connection):
        first, second = read_impacts(connection)
        assert (first.key, second.key) == ("a", "b")
        assert first.name == ("plain", "clerk")
        assert first.units.total.sum() != second.units.total.sum()

    @pytest.mark.parametrize("read", [read_gaps, read_impacts])
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda frame: frame.assign(unit_id=frame["unit_id"].replace(3, 4)), "a unit comes twice; each needs one row"),
            (lambda frame: frame.assign(label=frame["label"].replace(1, -1)), "labels lie from 0 to 127"),
            (lambda frame: frame.assign(label=frame["label"].replace(1, 128)), "labels lie from 0 to 127"),
            (lambda frame: frame.assign(n=0.0), "n is above 0: a unit without answers is left out"),
            (lambda frame: frame.assign(total=frame["total"].where(frame["unit_id"] != 3)), "total is a number for every unit"),
            (
                lambda frame: frame.assign(cluster_id=frame["cluster_id"].astype("Int64").where(frame["unit_id"] != 3)),
                "cluster_id is null in some rows; each needs one",
            ),
            (lambda frame: frame[frame["comparison_key"] == "b"], "it has no units"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_refused_by_name(self, connection, read, change, message):
        with pytest.raises(ValueError, match=f"^comparison a: {message}"):
            read(connection, members=change(members_frame(highest=1)))


class TestBlocks:
    def read(self, connection, frame):
        return list(read_blocks(connection.from_df(frame)))

    def test_every_value_stands_in_its_subjects_row_and_groups_column(self, connection):
        frame = blocks_frame()
        blocks = self.read(connection, frame.sample(frac=1, random_state=1))
        assert [block.key for block in blocks] == ["a", "b"]
        for block in blocks:
            expected = frame[frame["block_key"] == block.key].pivot(
                index="subject_id", columns="label", values="value"
            )
            assert block.units.tolist() == expected.to_numpy().tolist()

    @pytest.mark.parametrize(
        "change",
        [
            lambda frame: frame.drop(index=5),
            lambda frame: frame.assign(label=frame["label"].where(frame.index != 5, 2)),
            lambda frame: pd.concat([frame, frame.iloc[[5]]]),
            lambda frame: frame.assign(label=frame["label"] + 1),
        ],
    )
    def test_incomplete_subjects_are_refused_by_name(self, connection, change):
        with pytest.raises(
            ValueError, match=r"^block a: every subject needs one row for each label from 0 to"
        ):
            self.read(connection, change(blocks_frame(["a"])))

    def test_values_other_than_0_and_1_are_refused_by_name(self, connection):
        with pytest.raises(ValueError, match=r"^block a: a value is neither 0 nor 1"):
            self.read(connection, blocks_frame(["a"]).replace({"value": {1: 2}}))
        frame = blocks_frame(["a"]).astype({"value": "Int64"})
        frame.loc[5, "value"] = None
        with pytest.raises(ValueError, match=r"^block a: value is null in some rows"):
            self.read(connection, frame)


class TestPositions:
    def read(self, connection, frame):
        return list(read_positions(connection.from_df(frame)))

    @pytest.mark.parametrize("first_slot", [0, 1])
    def test_tops_are_numbered_from_the_first_shown(self, connection, first_slot):
        frame = positions_frame()
        tops = frame[frame["is_top"]].assign(place=lambda rows: rows["slot"] - 1)
        shifted = frame.assign(slot=frame["slot"] - 1 + first_slot)
        for one in self.read(connection, shifted.sample(frac=1, random_state=2)):
            assert one.units.n_positions.tolist() == [4] * 40
            assert one.units.sets.tolist() == [number // 2 for number in range(40)]
            assert (
                one.units.top_positions.tolist()
                == tops.loc[tops["position_key"] == one.key, "place"].tolist()
            )

    def test_a_response_counts_as_often_as_it_stands_for(self, connection):
        frame = positions_frame(["a"])
        (one,) = self.read(connection, frame.assign(weight=1.0 + frame["response_id"]))
        assert one.units.n_answers.tolist() == list(range(1, 41))

    def test_a_response_may_rank_fewer_candidates(self, connection):
        frame = positions_frame(["a"])
        first = frame[frame["response_id"] == 0]
        dropped = first.index[~first["is_top"]][-1]
        whole, part = (self.read(connection, rows)[0] for rows in (frame, frame.drop(index=dropped)))
        assert part.units.n_positions.tolist() == [3] + [4] * 39
        assert part.units.top_positions[1:].tolist() == whole.units.top_positions[1:].tolist()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
                        (lambda frame: pd.concat([frame, frame.iloc[[5]]]), "a response has a slot twice; each needs one row"),
            (lambda frame: frame.assign(is_top=False), "every response needs exactly one slot with is_top"),
            (lambda frame: frame.assign(is_top=True), "every response needs exactly one slot with is_top"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_refused_by_name(self, connection, change, message):
        with pytest.raises(ValueError, match=f"^rankings a: {message}"):
            self.read(connection, change(positions_frame(["a"])))
