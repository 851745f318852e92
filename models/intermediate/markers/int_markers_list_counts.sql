with

comparisons as (
    select
        comparison_key,
        contrast_id,
        scheme,
        categories
    from {{ ref("int_markers_list_comparisons") }}
),

members as (
    select
        comparison_key,
        unit,
        unit_id
    from {{ ref("int_markers_list_members") }}
),

units as (
    select
        *,
        max(n) filter (where list is null) over (partition by contrast_id, scheme, unit) as n_tokens
    from {{ ref("int_markers_list_units") }}
),

-- A null category counts the tokens. A token may hold several markers of a list; where they outnumber the tokens, these
-- are all there is to count.
list_counts as (
    select
        comparisons.comparison_key,
        members.unit_id,
        0 as block,
        cast(list_position(comparisons.categories, units.list) - 1 as integer) as category_id,
        cast(least(units.n, units.n_tokens) as double) as n
    from comparisons
    inner join members on comparisons.comparison_key = members.comparison_key
    inner join units
        on
            comparisons.contrast_id = units.contrast_id
            and comparisons.scheme = units.scheme
            and members.unit = units.unit
)

select * from list_counts
