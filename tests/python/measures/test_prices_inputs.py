"""Test the step from relations of prices to arrays: places, order of rows, and impossible rows."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

from biasledger.measures.prices.associations import category_associations
from biasledger.measures.prices.items import levels
from biasledger.measures.prices.means import means, spreads
from biasledger.measures.prices.questions import balanced_by_question, sums_of_sets
from biasledger.model_inputs.prices import read_association_comparisons, read_price_comparisons

KEYS = ("a", "b")


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def price_rows(**changes: object) -> pd.DataFrame:
    columns = {
        "comparison_key": list(KEYS), "run_id": "run", "mitigation": "plain", "attribute": ["race", "couple"],
        "unit_kind": "descriptors", "n_groups": 2, "has_reference": [True, False], "n_sets": 2, "n_levels": 4,
        "n_blocks": [1, 2], "n_permutations": 99, "alpha": 0.05, "seed": [7, 8],
    }  # fmt: skip
    return pd.DataFrame(columns | changes)


def association_rows(**changes: object) -> pd.DataFrame:
    columns = {
        "comparison_key": list(KEYS), "mitigation": "plain", "attribute": ["race", "couple"], "group_name": "black",
        "reference_group": "white", "n_blocks": [1, 2], "n_categories": 5, "n_permutations": 99, "alpha": 0.05,
        "seed": 7,
    }  # fmt: skip
    return pd.DataFrame(columns | changes)


def members_frame() -> pd.DataFrame:
    units = np.arange(10, 18)
    rows = {"unit_id": units, "label": [0, 1] * 4, "stratum_id": [0, 0, 1, 1] * 2, "cluster_id": units * 3}
    return pd.concat([pd.DataFrame({"comparison_key": key, **rows}) for key in KEYS], ignore_index=True)


def items_frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        (key, unit, block, place, level, int(rng.integers(0, 9)))
        for key, n_blocks in zip(KEYS, (1, 2), strict=True)
        for unit in range(10, 18)
        for block in range(n_blocks)
        for place in range(2)
        for level in range(1, 5)
        if rng.random() < 0.9
    ]
    frame = pd.DataFrame(rows, columns=["comparison_key", "unit_id", "block", "set_id", "level", "n"])
    # A question a set.
    return frame.assign(question_id=frame["set_id"])


def categories_frame() -> pd.DataFrame:
    rows = items_frame().query("set_id == 0").assign(category_id=lambda frame: frame["level"])
    return rows[["comparison_key", "unit_id", "block", "category_id", "n"]].reset_index(drop=True)


def totals_frame() -> pd.DataFrame:
    rows = categories_frame().groupby(["comparison_key", "unit_id", "block"], as_index=False)["n"].sum()
    return rows.rename(columns={"n": "n_items"})


def read_prices(connection, comparisons=None, members=None, items=None):
    return list(
        read_price_comparisons(
            connection.from_df(price_rows() if comparisons is None else comparisons),
            connection.from_df(members_frame() if members is None else members),
            connection.from_df(items_frame() if items is None else items),
        )
    )


def read_associations(connection, comparisons=None, members=None, categories=None, totals=None):
    return list(
        read_association_comparisons(
            connection.from_df(association_rows() if comparisons is None else comparisons),
            connection.from_df(members_frame() if members is None else members),
            connection.from_df(categories_frame() if categories is None else categories),
            connection.from_df(totals_frame() if totals is None else totals),
        )
    )


class TestPrices:
    def test_every_comparison_gets_its_own_units_and_settings(self, connection):
        first, second = read_prices(connection, price_rows().sample(frac=1, random_state=3))
        assert (first.key, second.key) == KEYS
        assert (first.name, second.name) == (("plain",), ("plain",))
        assert (first.has_reference, second.has_reference) == (True, False)
        assert (first.seed, second.seed, first.n_permutations, first.alpha) == (7, 8, 99, 0.05)
        assert (first.units.counts.shape, second.units.counts.shape) == ((8, 1, 2, 4), (8, 2, 2, 4))
        items = items_frame()
        for one in (first, second):
            expected = np.zeros(one.units.counts.shape)
            for row in items[items["comparison_key"] == one.key].itertuples():
                expected[row.unit_id - 10, row.block, row.set_id, row.level - 1] = row.n
            assert one.units.counts.tolist() == expected.tolist()
            assert one.units.design.labels.tolist() == [0, 1] * 4
            assert one.units.design.strata.tolist() == [0, 0, 1, 1] * 2
            assert one.units.clusters.tolist() == [unit * 3 for unit in range(10, 18)]

    def test_rows_order_changes_nothing(self, connection):
        shuffled = [
            frame.sample(frac=1, random_state=5) for frame in (price_rows(), members_frame(), items_frame())
        ]
        for table in (levels, means, spreads):
            pd.testing.assert_frame_equal(
                table(read_prices(connection)).to_pandas(),
                table(read_prices(connection, *shuffled)).to_pandas(),
            )

    def test_a_comparison_measured_alone_has_the_same_numbers(self, connection):
        alone = read_prices(connection, price_rows().query("comparison_key == 'b'"))
        for table in (levels, means, spreads):
            whole = table(read_prices(connection)).to_pandas()
            of_b = whole[whole["comparison_key"] == "b"].reset_index(drop=True)
            assert len(of_b) > 0
            pd.testing.assert_frame_equal(table(alone).to_pandas(), of_b)

    def test_units_without_items_are_left_out_and_comparisons_without_any_too(self, connection):
        items = items_frame().query("comparison_key == 'a' and unit_id != 12")
        [only] = read_prices(connection, items=items)
        assert only.key == "a"
        assert only.units.clusters.tolist() == [unit * 3 for unit in range(10, 18) if unit != 12]

    def test_fractional_counts_stay(self, connection):
        items = items_frame().assign(n=lambda frame: frame["n"] / 4)
        whole, quarters = read_prices(connection), read_prices(connection, items=items)
        assert (whole[0].units.counts / 4).tolist() == quarters[0].units.counts.tolist()

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("level", 5, "level lies outside 1 to 4"),
            ("level", 0, "level lies outside 1 to 4"),
            ("set_id", 2, "set_id lies outside 0 to 1"),
            ("block", 1, "block lies outside 0 to 0"),
            ("unit_id", 99, "it counts items of a unit that is not among its members"),
            ("n", -1, "counts of items are numbers of 0 or more"),
            ("n", None, "n is null in some rows"),
            ("level", None, "level is null in some rows"),
        ],
    )
    def test_items_that_cannot_be_are_refused(self, connection, column, value, message):
        items = items_frame().astype({column: "Int64"})
        items.loc[0, column] = value
        with pytest.raises(ValueError, match=f"^comparison a: {message}"):
            read_prices(connection, items=items)

    def test_a_contrast_is_weighted_by_question_and_pairs_without_reference_are_not(self, connection):
        items = items_frame().assign(question_id=lambda rows: 2 * rows["set_id"] + rows["level"] % 2)
        contrast, pair = read_prices(connection, items=items)
        assert pair.units.weighted is None
        of_questions = np.zeros((8, 1, 4, 4))
        for row in items[items["comparison_key"] == "a"].itertuples():
            of_questions[row.unit_id - 10, row.block, row.question_id, row.level - 1] = row.n
        expected, _ = balanced_by_question(
            contrast.units.design.labels,
            of_questions,
            of_questions.sum(axis=3),
            np.array([0, 0, 1, 1]),
            2,
        )
        assert contrast.units.weighted.tolist() == expected.tolist()
        assert (
            contrast.units.counts.tolist() == sums_of_sets(of_questions, np.array([0, 0, 1, 1]), 2).tolist()
        )

    def test_a_question_lies_in_one_set(self, connection):
        items = items_frame().assign(question_id=0)
        items = items.drop_duplicates(["comparison_key", "unit_id", "block", "level"], keep="last")
        with pytest.raises(ValueError, match=r"^comparison a: a question lies in two sets"):
            read_prices(connection, items=items)
        with pytest.raises(ValueError, match=r"^comparison a: set_id lies outside 0 to 1"):
            read_prices(connection, items=items_frame().assign(set_id=2))

    def test_a_cell_that_comes_twice_is_refused(self, connection):
        items = pd.concat([items_frame(), items_frame().iloc[[0]]])
        with pytest.raises(
            ValueError, match=r"^comparison a: a unit has two counts for one block and question_id and level"
        ):
            read_prices(connection, items=items)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"unit_id": 10}, "a unit comes twice among its members"),
            ({"label": 200}, "labels lie from 0 to 127"),
            ({"label": 2}, "a label lies outside 0 to 1, the comparison's groups"),
            ({"stratum_id": None}, "stratum_id is null in some rows"),
        ],
    )
    def test_members_that_cannot_be_are_refused(self, connection, changes, message):
        members = members_frame().astype(dict.fromkeys(changes, "Int64"))
        for name, value in changes.items():
            members.loc[1, name] = value
        with pytest.raises(ValueError, match=f"^comparison a: {message}"):
            read_prices(connection, members=members)


class TestAssociations:
    def test_every_comparison_gets_its_own_counts_and_totals(self, connection):
        first, second = read_associations(connection)
        assert (first.name, second.name) == (("plain",), ("plain",))
        assert (first.units.counts.shape, second.units.counts.shape) == ((8, 1, 5), (8, 2, 5))
        totals = totals_frame().query("comparison_key == 'b'")
        assert second.units.totals.ravel().tolist() == totals["n_items"].tolist()
        assert second.units.counts.sum(axis=2).tolist() == second.units.totals.tolist()
        assert (first.units.counts[:, :, 0] == 0).all()

    def test_rows_order_changes_nothing(self, connection):
        frames = (association_rows(), members_frame(), categories_frame(), totals_frame())
        shuffled = [frame.sample(frac=1, random_state=5) for frame in frames]
        pd.testing.assert_frame_equal(
            category_associations(read_associations(connection)).to_pandas(),
            category_associations(read_associations(connection, *shuffled)).to_pandas(),
        )

    def test_a_comparison_measured_alone_has_the_same_numbers(self, connection):
        whole = category_associations(read_associations(connection)).to_pandas()
        alone = read_associations(connection, association_rows().query("comparison_key == 'b'"))
        of_b = whole[whole["comparison_key"] == "b"].reset_index(drop=True)
        assert 0 < len(of_b) < len(whole)
        pd.testing.assert_frame_equal(category_associations(alone).to_pandas(), of_b)

    def test_units_whose_items_have_no_category_count(self, connection):
        categories = categories_frame().query("unit_id != 12")
        first, _ = read_associations(connection, categories=categories)
        assert first.units.totals.size == 8
        assert first.units.counts[2].sum() == 0

    def test_comparisons_without_items_are_left_out(self, connection):
        totals = totals_frame().query("comparison_key == 'b'")
        categories = categories_frame().query("comparison_key == 'b'")
        assert [one.key for one in read_associations(connection, categories=categories, totals=totals)] == [
            "b"
        ]

    def test_more_items_of_a_category_than_items_are_refused(self, connection):
        totals = totals_frame().assign(n_items=1)
        with pytest.raises(
            ValueError, match=r"^comparison a: a unit has more items of a category than items"
        ):
            read_associations(connection, totals=totals)

    def test_categories_outside_are_refused(self, connection):
        with pytest.raises(ValueError, match=r"^comparison a: category_id lies outside 0 to 2"):
            read_associations(connection, association_rows(n_categories=3))
