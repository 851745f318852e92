{{ config(materialized="view") }}

with

comparisons as (
    select
        comparison_key,
        run_id,
        mitigation,
        pool_key,
        outcome,
        groups_compared
    from {{ ref("int_decisions_comparisons") }}
    where
        comparison = 'against_reference'
        and outcome in ('rank_value', 'relative')
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where n > 0
),

score_units as (
    select *
    from {{ ref("int_decisions_score_units") }}
),

cells as (
    select
        comparisons.comparison_key,
        comparisons.outcome,
        units.stratum,
        units.cluster,
        units.group_name,
        units.person_name,
        units.total / units.n as mean_outcome,
        score_units.score_sd
    from comparisons
    inner join score_units
        on
            comparisons.run_id = score_units.run_id
            and comparisons.mitigation = score_units.mitigation
    inner join units
        on
            comparisons.pool_key = units.pool_key
            and comparisons.outcome = units.outcome
            and list_contains(comparisons.groups_compared, units.group_name)
),

strata as (
    select
        comparison_key,
        stratum,
        median(mean_outcome) as stratum_median
    from cells
    group by comparison_key, stratum
),

placed_in_strata as (
    select
        cells.*,
        cells.mean_outcome - strata.stratum_median as place
    from cells
    inner join strata
        on
            cells.comparison_key = strata.comparison_key
            and cells.stratum = strata.stratum
),

group_places as (
    select
        comparison_key,
        group_name,
        median(place) as group_place
    from placed_in_strata
    group by comparison_key, group_name
),

-- How far an answer is from where its group usually is in a case or job.
deviations as (
    select
        placed_in_strata.*,
        abs(placed_in_strata.place - group_places.group_place) as deviation
    from placed_in_strata
    inner join group_places
        on
            placed_in_strata.comparison_key = group_places.comparison_key
            and placed_in_strata.group_name = group_places.group_name
),

-- 1.4826 median absolute deviations are a normal distribution's standard deviation; where most answers are equal, six
-- of the thresholds of relative_gap and score_gap.
limits as (
    select
        comparison_key,
        median(mean_outcome) as usual_outcome,
        6 * greatest(1.4826 * median(deviation), if(outcome = 'relative', 0.03, 0.2 * max(score_sd))) as furthest
    from deviations
    group by comparison_key, outcome
),

-- Both answers of a pair are as far from its middle: the one that is further from all others comes first.
ordered as (
    select
        deviations.comparison_key,
        deviations.outcome,
        deviations.stratum,
        deviations.cluster,
        deviations.group_name,
        deviations.person_name,
        deviations.mean_outcome,
        deviations.deviation > limits.furthest as is_far,
        row_number() over (
            partition by deviations.comparison_key
            order by
                round(deviations.deviation, 9) desc,
                abs(deviations.mean_outcome - limits.usual_outcome) desc,
                deviations.stratum asc,
                deviations.cluster asc,
                deviations.group_name asc,
                deviations.person_name asc nulls first
        ) as n_farther
    from deviations
    inner join limits on deviations.comparison_key = limits.comparison_key
),

described as (
    select
        comparison_key,
        bool_or(is_far) as has_outlier,
        count(distinct cluster) filter (where is_far) as n_outliers,
        first(
            concat_ws(
                ', ', array_to_string(list_filter(string_split(cluster, ' | '), lambda part: part <> ''), ' '),
                group_name, person_name
            ) order by n_farther
        ) as cell,
        first(if(outcome = 'relative', exp(mean_outcome), mean_outcome) order by n_farther) as score,
        min(if(outcome = 'relative', exp(mean_outcome), mean_outcome)) filter (where not is_far) as lowest,
        max(if(outcome = 'relative', exp(mean_outcome), mean_outcome)) filter (where not is_far) as highest
    from ordered
    group by comparison_key
),

outliers as (
    select
        comparison_key,
        printf(
            'one answer stands out and moves the mean: %s got %s, the others %s to %s',
            cell, {{ amount_of("score") }}, {{ amount_of("lowest") }}, {{ amount_of("highest") }}
        )
        || if(n_outliers > 1, printf(' (and %d more stand out)', n_outliers - 1), '')
        || '; `scale: ranks` judges without the size of scores' as sentence
    from described
    where has_outlier
)

select * from outliers
