with

comparisons as (
    select * exclude (n_permutations, seed, n_marked, n_reference)
    from {{ ref("int_turn_slopes_comparisons") }}
),

gaps as (
    select *
    from {{ ref("int_turn_slopes") }}
),

turn_slopes as (
    select
        comparisons.*,
        gaps.* replace (
            case
                when 'name' in (gaps.unit, gaps.width_unit) then 'name'
                when comparisons.is_by_prompt then 'prompt'
                else 'conversation'
            end as unit
        ),
        least(comparisons.n_marked_units, comparisons.n_reference_units) as n_units
    from comparisons
    inner join gaps on comparisons.comparison_key = gaps.comparison_key
)

{{ contracted("turn_slopes") }}
