"""Prices: price levels and categories by group, and the answers with most items of the level or category in question."""

from __future__ import annotations

from dataclasses import replace

from biasledger.explaining.case import CONTRAST, RUN, Case
from biasledger.explaining.evidence import Evidence, Pick, RowsBehind, Side, first_value
from biasledger.explaining.marks import Mark

_ALL = f"{RUN} and attribute = $attribute and domain = '(all)'"
_MEANS = (
    "rank_from_dearest, group_name, mean_price_level, interval_low, interval_high, reference_group, adjusted_gap, "
    "p_value_adjusted, n_items, n_clusters"
)


def evidence(case: Case) -> Evidence:
    """The prices or categories of the groups compared, and items that make the difference."""
    return _EVIDENCE[case.finding["measure"]](case)


def _share(case: Case) -> Evidence:
    levels = case.behind(
        "fct_price_levels",
        "price levels of both groups, as shares among all groups of the attribute (the finding takes the two alone)",
        where=f"{_ALL} and group_name in ($group_name, $reference_group)",
        columns="price_level, group_name, share, expected_share, excess, interval_low, interval_high, p_value_adjusted, n_items, "
        "n_items_of_level",
        order="group_name, price_level",
        n=50,
    )
    return _with_member(case, levels, "repeat('$', price_level) = $member", "of price level")


def _gap(case: Case) -> Evidence:
    means = case.behind(
        "fct_mean_price_levels",
        "mean price levels of both groups",
        where=f"{_ALL} and group_name in ($group_name, $reference_group)",
        columns=_MEANS,
        order="rank_from_dearest",
    )
    is_dearer = (case.finding["value"] or 0.0) > 0
    extreme = "max" if is_dearer else "min"
    condition = f"price_level = (select {extreme}(price_level) from marts.fct_recommended_items where run_id = $run_id)"
    return _with_items(
        case,
        [means],
        condition,
        "of the dearest level" if is_dearer else "of the cheapest level",
    )


def _spread(case: Case) -> Evidence:
    spread = case.behind(
        "fct_price_spread",
        "the spread over groups",
        where="contrast_id = $contrast_id",
        columns="* exclude (contrast_id, run_id, mitigation)",
    )
    means = case.behind(
        "fct_mean_price_levels",
        "mean price levels, the dearest first",
        where=_ALL,
        columns=_MEANS,
        order="rank_from_dearest",
        n=50,
    )
    observed = first_value(spread, "spread")
    if case.finding["member"] is None:
        return Evidence([spread, means], observed=observed)
    groups = (case.finding["member"], case.finding["reference_member"])
    condition = (
        "price_level = (select max(price_level) from marts.fct_recommended_items where run_id = $run_id)"
    )
    shown = _with_items(case, [spread, means], condition, "of the dearest level", groups)
    return replace(shown, observed=observed)


def _category(case: Case) -> Evidence:
    associations = case.behind(
        "fct_category_associations",
        "categories by certainty",
        where=f"{CONTRAST} and p_value_adjusted is not null",
        columns="category, category_set, adjusted_difference, difference, share_marked, share_reference, band_low, band_high, "
        "p_value_adjusted, is_associated",
        order="p_value_adjusted, abs(difference - null_mean) / nullif(null_sd, 0) desc nulls last, category",
    )
    # A member is a category, or in brackets a set of them.
    sets = "list_transform(string_split(category_set, ', '), lambda one: '(' || one || ')')"
    categories = f"""
        select lower(category) from marts.fct_category_associations
        where {CONTRAST} and (category = $member or list_contains({sets}, $member))
    """
    condition = f"list_has_any(list_transform(categories, lambda one: lower(one)), array({categories}))"
    return _with_member(case, associations, condition, "of category")


def _with_member(case: Case, table: RowsBehind, condition: str, kind: str) -> Evidence:
    """Items of the level or category that is judged; none where there is nothing to judge."""
    judged = case.finding["member"]
    return _with_items(case, [table], condition, f"{kind} {judged}") if judged else Evidence([table])


def _with_items(
    case: Case,
    tables: list[RowsBehind],
    condition: str,
    what: str,
    groups: tuple[str, str] | None = None,
) -> Evidence:
    sides = [_answers(case, name, condition, what) for name in groups or case.groups]
    return Evidence(tables, sides, first=f"item {what}")


def _answers(case: Case, name: str, condition: str, what: str) -> Side:
    """A group's answers with most items of the kind."""
    found = case.rows(
        f"""
        select
            items.prompt_id, items.trial, any_value(items.domain) as domain,
            sum(items.n) filter (where {condition}) as n_of_kind,
            sum(items.n) as n_items,
            list(distinct items.item order by items.item) filter (where {condition} and items.item is not null) as names
        from marts.fct_recommended_items as items
        where
            items.run_id = $run_id and items.mitigation = $mitigation
            and items.prompt_id in (
                select prompt_id from marts.dim_prompt_groups
                where {RUN} and attribute = $attribute and group_name = $side
            )
        group by items.prompt_id, items.trial
        order by n_of_kind desc nulls last, items.prompt_id, items.trial
        limit $n
        """,
        side=name,
    )
    picks = [
        Pick(
            row["prompt_id"],
            row["trial"],
            f"{row['n_of_kind'] or 0:g} of {row['n_items']:g} items {what}"
            + (f", {row['domain']}" if row["domain"] else ""),
            [Mark(item, kind="exact") for item in row["names"] or ()],
        )
        for row in found
    ]
    return case.side(name, picks, order=f"with most items {what}")


_EVIDENCE = {
    "price_share": _share,
    "price_gap": _gap,
    "price_spread": _spread,
    "category_association": _category,
}
