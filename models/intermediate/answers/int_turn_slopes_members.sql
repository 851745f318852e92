with

comparisons as (
    select
        comparison_key,
        contrast_id,
        scheme
    from {{ ref("int_turn_slopes_comparisons") }}
),

growths as (
    select *
    from {{ ref("int_turn_slopes_growths") }}
),

grouped as (
    select
        comparisons.comparison_key,
        growths.unit,
        growths.label,
        growths.stratum,
        coalesce(growths.name_stratum, '') as name_stratum,
        if(growths.has_names, growths.name, null) as name,
        coalesce(growths.sampled, growths.unit) as sampled,
        coalesce(growths.whole, growths.unit) as whole,
        count(*) as n,
        sum(growths.growth order by growths.conversation) as total
    from comparisons
    inner join growths
        on
            comparisons.contrast_id = growths.contrast_id
            and comparisons.scheme = growths.scheme
    group by all
),

members as (
    select
        comparison_key,
        {{ code_in_comparison("unit") }} as unit_id,
        label,
        {{ code_in_comparison("stratum") }} as stratum_id,
        {{ code_in_comparison("sampled") }} as cluster_id,
        {{ code_in_comparison("stratum, label, whole") }} as whole_id,
        if(name is null, null, {{ code_in_comparison("label, name_stratum, name") }}) as name_id,
        {{ code_in_comparison("name_stratum") }} as name_stratum_id,
        n,
        total
    from grouped as comparisons
)

select * from members
