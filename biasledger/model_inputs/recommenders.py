"""Turn a recommender's predictions of held-out texts into Table 3 of LMRec's source, by the functions of `lmrec evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields

import duckdb
import numpy as np

from biasledger.measures.recommenders.quality import UNKNOWN
from biasledger.measures.recommenders.table import Measure, Predictions, averaged, measures
from biasledger.measures.schema import Table, table_of
from biasledger.model_inputs.relations import Columns, RowsByKey, floats

_TYPES = {"str": "str", "float | None": "float64", "int": "int64"}
_CATEGORY = "category_"


def read_predictions(predictions: duckdb.DuckDBPyRelation) -> Iterator[tuple[str, list[Predictions]]]:
    """Yield the hash of each import, and its predictions by city.

    predictions: predictions_hash, city, review_id, user_id, business_id, predicted_business_id, rank, popularity_rank and the
    category measures, a row a held-out text and import; recommender and imported_at say of which, as several may have the same.
    """
    of_texts = predictions.project("* exclude (recommender, imported_at)").distinct()
    for key, rows in RowsByKey(of_texts, "predictions_hash", "city", "review_id", of=None):
        cities = rows["city"].astype(np.str_)
        yield (
            key,
            [
                _of_city(str(city), {name: column[cities == city] for name, column in rows.items()})
                for city in np.unique(cities)
            ],
        )


def recommender_quality(recommenders: Iterable[tuple[str, Sequence[Predictions]]]) -> Table:
    """Return each measure with its interval, of each city and, of several, their mean."""
    rows = []
    for key, by_city in recommenders:
        listed = [row for found in by_city for row in measures(found)]
        listed += averaged(listed) if len(by_city) > 1 else []
        rows += [{"predictions_hash": key, **asdict(row)} for row in listed]
    types = {one.name: _TYPES[str(one.type)] for one in fields(Measure)}
    return table_of({"predictions_hash": "str", **types}, rows)


def _of_city(city: str, rows: Columns) -> Predictions:
    rank = floats(rows["rank"])
    _, numbers = np.unique(
        np.concatenate([rows[name].astype(np.str_) for name in ("business_id", "predicted_business_id")]),
        return_inverse=True,
    )
    own, predicted = np.split(numbers, 2)
    return Predictions(
        city=city,
        users=[str(user) for user in rows["user_id"]],
        venues=np.where(np.isnan(rank), UNKNOWN, own),
        predicted=predicted,
        rank=np.where(np.isnan(rank), np.inf, rank),
        popularity_rank=np.nan_to_num(floats(rows["popularity_rank"]), nan=np.inf),
        by_category={
            name.removeprefix(_CATEGORY): floats(column)
            for name, column in rows.items()
            if name.startswith(_CATEGORY)
        },
    )
