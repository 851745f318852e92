with

comparisons as (
    select
        comparison_key,
        contrast_id,
        outcome
    from {{ ref("int_texts_comparisons") }}
    where outcome <> 'similarity'
),

units as (
    select *
    from {{ ref("int_texts_units") }}
),

outcomes as (
    select *
    from {{ ref("int_texts_outcomes") }}
    where value is not null
),

answers as (
    select
        comparisons.comparison_key,
        units.*,
        outcomes.value as outcome_value
    from comparisons
    inner join units on comparisons.contrast_id = units.contrast_id
    inner join outcomes
        on
            units.text_key = outcomes.text_key
            and comparisons.outcome = outcomes.outcome
),

grouped as (
    select
        comparison_key,
        gap_unit,
        label,
        question_id,
        name_id,
        name_stratum_id,
        coalesce(sampled, gap_unit) as sampled,
        coalesce(whole, gap_unit) as whole,
        sum(weight) as n,
        sum(weight * outcome_value order by answer_id) as total
    from answers
    group by all
),

members as (
    select
        comparison_key,
        {{ code_in_comparison("gap_unit") }} as unit_id,
        label,
        question_id as stratum_id,
        {{ code_in_comparison("sampled") }} as cluster_id,
        {{ code_in_comparison("question_id, label, whole") }} as whole_id,
        nullif(name_id, -1) as name_id,
        name_stratum_id,
        n,
        total
    from grouped as comparisons
)

select * from members
