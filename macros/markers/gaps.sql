{#- A mart of gaps of one outcome: `subject` is what it calls the scheme or the scorer. -#}
{% macro gaps_mart(outcome, subject) -%}
with

comparisons as (
    select *
    from {{ ref("int_markers_gap_comparisons") }}
    where outcome = '{{ outcome }}'
),

gaps as (
    select *
    from {{ ref("int_markers_gaps") }}
),

gaps_of_outcome as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as {{ subject }},
        cast(comparisons.domain as varchar) as category,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        cast(comparisons.unit_kind as varchar) as unit_kind,
        cast(gaps.mean_marked as double) as mean_marked,
        cast(gaps.mean_reference as double) as mean_reference,
        {{ double_or_null("gaps.gap") }} as gap,
        cast(comparisons.raw_gap as double) as raw_gap,
        {{ double_or_null("gaps.standard_error") }} as standard_error,
        {{ double_or_null("gaps.interval_low") }} as interval_low,
        {{ double_or_null("gaps.interval_high") }} as interval_high,
        {{ double_or_null("gaps.adjusted_gap") }} as adjusted_gap,
        {{ double_or_null("gaps.adjusted_standard_error") }} as adjusted_standard_error,
        {{ double_or_null("gaps.adjusted_low") }} as adjusted_low,
        {{ double_or_null("gaps.adjusted_high") }} as adjusted_high,
        {{ double_or_null("gaps.null_mean") }} as null_mean,
        {{ double_or_null("gaps.null_sd") }} as null_sd,
        {{ double_or_null("gaps.p_value") }} as p_value,
        {{ double_or_null("gaps.p_case") }} as p_case,
        {{ double_or_null("gaps.p_name") }} as p_name,
        cast(
            case
                when gaps.n_names = 0 then {{ marker_units("comparisons.unit_kind") }}
                when gaps.width_unit = 'case' and gaps.n_cases < gaps.n_names then 'questions'
                else 'names a group'
            end as varchar
        ) as width_unit,
        cast(gaps.width_power as double) as width_power,
        cast(comparisons.n_marked as double) as n_marked,
        cast(comparisons.n_reference as double) as n_reference,
        cast(comparisons.n_marked_units as bigint) as n_marked_units,
        cast(comparisons.n_reference_units as bigint) as n_reference_units,
        cast(
            case
                when gaps.n_names > 0 and gaps.width_unit = 'case' then least(gaps.n_cases, gaps.n_names)
                else least(comparisons.n_marked_units, comparisons.n_reference_units)
            end as bigint
        ) as n_units,
        cast(gaps.n_permutations as integer) as n_permutations,
        cast(gaps.seed as bigint) as seed,
        cast(comparisons.is_crossed as boolean) as is_crossed,
        cast(comparisons.is_judged as boolean) as is_judged,
        cast(gaps.is_stopped_early as boolean) as is_stopped_early
    from gaps
    inner join comparisons on gaps.comparison_key = comparisons.comparison_key
)

select * from gaps_of_outcome
{%- endmacro %}
