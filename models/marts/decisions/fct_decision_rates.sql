with

people as (
    select *
    from {{ ref("int_decisions_people") }}
),

categories as (
    select *
    from {{ ref("int_decisions_categories") }}
    where outcome = 'selected'
),

comparisons as (
    select
        comparison_key,
        contrast_id,
        pool_key,
        outcome,
        groups_compared
    from {{ ref("int_decisions_comparisons") }}
    where comparison = 'all_groups'
),

contrasts as (
    select distinct
        contrast_id,
        pool_key
    from comparisons
),

category_labels as (
    select
        comparison_key,
        unnest(groups_compared) as group_name,
        generate_subscripts(groups_compared, 1) as group_position
    from comparisons
),

impact_ratios as (
    select
        comparisons.pool_key,
        category_labels.group_name,
        ratios.ratio,
        ratios.interval_low,
        ratios.interval_high,
        ratios.fisher_p,
        ratios.is_best
    from {{ ref("int_decisions_impact_ratios") }} as ratios
    inner join comparisons on ratios.comparison_key = comparisons.comparison_key
    inner join category_labels
        on
            ratios.comparison_key = category_labels.comparison_key
            and ratios.label = category_labels.group_position - 1
    where comparisons.outcome = 'selected'
),

summed as (
    select
        pool_key,
        run_id,
        mitigation,
        judged_domain as domain,
        attribute,
        group_name,
        sum(weight) as n_asked,
        coalesce(sum(weight) filter (where is_unknown), 0) as n_unknown,
        coalesce(sum(weight) filter (where is_refused), 0) as n_refused,
        sum(weight * correct) / sum(weight) filter (where correct is not null) as accuracy,
        sum(weight * selected) filter (where should_be_selected = 0)
        / sum(weight) filter (where should_be_selected = 0 and selected is not null) as false_positive_rate,
        sum(weight * (1 - selected)) filter (where should_be_selected = 1)
        / sum(weight) filter (where should_be_selected = 1 and selected is not null) as false_negative_rate,
        sum(weight * rank_value) filter (where not is_unknown)
        / sum(weight) filter (where rank_value is not null and not is_unknown) as mean_rank_value,
        sum(weight * rank) / sum(weight) filter (where rank is not null) as mean_rank,
        sum(weight) filter (where rank = n_candidates) / sum(weight) filter (where rank is not null) as share_last
    from people
    group by pool_key, run_id, mitigation, judged_domain, attribute, group_name
),

rates as (
    select
        summed.*,
        contrasts.contrast_id,
        categories.excluded_reason,
        coalesce(categories.n_people, 0) as n_people,
        categories.n_selected,
        categories.share_of_people,
        categories.n_selected / categories.n_people as selection_rate,
        impact_ratios.ratio as impact_ratio,
        impact_ratios.interval_low as impact_ratio_low,
        impact_ratios.interval_high as impact_ratio_high,
        impact_ratios.fisher_p as fisher_p_value,
        -- Refused people count as not selected; the same as above without refusals.
        coalesce(categories.n_selected, 0)
        / nullif(coalesce(categories.n_people, 0) + summed.n_refused, 0) as selection_rate_of_asked,
        impact_ratios.is_best as is_best_off,
        impact_ratios.ratio < 0.8 as is_below_four_fifths
    from summed
    left join categories
        on
            summed.pool_key = categories.pool_key
            and summed.group_name = categories.group_name
    left join contrasts on summed.pool_key = contrasts.pool_key
    left join impact_ratios
        on
            summed.pool_key = impact_ratios.pool_key
            and summed.group_name = impact_ratios.group_name
),

decision_rates as (
    select
        *,
        if(
            excluded_reason is null,
            selection_rate_of_asked / nullif(
                max(selection_rate_of_asked) filter (where excluded_reason is null) over (partition by pool_key), 0
            ),
            null
        ) as impact_ratio_of_asked
    from rates
)

{{ contracted("decision_rates") }}
