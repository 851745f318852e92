{#- The gaps of some outcomes, as CTEs that end with gaps_of_outcomes. -#}
{% macro gaps_of() -%}
comparisons as (
    select * exclude (n_permutations, seed, n_blocks)
    from {{ ref("int_markers_comparisons") }}
    where outcome in ('{{ varargs | join("', '") }}')
),

gaps as (
    select * exclude (n_marked, n_reference)
    from {{ ref("int_markers_gaps") }}
),

gaps_of_outcomes as (
    select
        comparisons.*,
        gaps.* replace (
            case
                when gaps.n_names = 0 then {{ marker_units("comparisons.unit_kind") }}
                when gaps.width_unit = 'case' and gaps.n_cases < gaps.n_names then 'questions'
                else 'names a group'
            end as width_unit
        ),
        case
            when gaps.n_names > 0 and gaps.width_unit = 'case' then least(gaps.n_cases, gaps.n_names)
            else least(comparisons.n_marked_units, comparisons.n_reference_units)
        end as n_units
    from gaps
    inner join comparisons on gaps.comparison_key = comparisons.comparison_key
)
{%- endmacro %}

{#- The columns that a finding takes from a mart of gaps. -#}
{% macro judged_gap(gaps) -%}
    case
        when {{ gaps }}.gap is not null and {{ gaps }}.p_value is null
            then 'chance cannot be estimated, as no question was answered about both groups'
    end as detail_without_alarm,
    -- Inside strata, so that who is asked about which subject is no gap.
    {{ gaps }}.adjusted_gap as value,
    {{ gaps }}.p_value,
    {{ gaps }}.null_mean,
    {{ gaps }}.null_sd,
    {{ gaps }}.adjusted_low as interval_low,
    {{ gaps }}.adjusted_high as interval_high,
    {{ gaps }}.raw_gap as published_value,
    {{ gaps }}.width_unit as settled_by,
    {{ gaps }}.width_power,
    {{ gaps }}.n_units,
    coalesce({{ gaps }}.n_permutations, 0) as n_permutations,
    {{ gaps }}.seed
{%- endmacro %}
