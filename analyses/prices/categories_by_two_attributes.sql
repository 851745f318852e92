-- In which quadrant of two attributes does each category lie? Certain ones first.
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

quadrants as (
    select *
    from {{ ref("fct_category_quadrants") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    quadrants.mitigation,
    quadrants.attribute_x,
    quadrants.attribute_y,
    quadrants.category,
    quadrants.category_set,
    quadrants.quadrant,
    quadrants.difference_x,
    quadrants.difference_y,
    least(quadrants.p_value_adjusted_x, quadrants.p_value_adjusted_y) as smallest_p_value,
    quadrants.n_items
from quadrants
inner join runs on quadrants.run_id = runs.run_id
order by
    smallest_p_value asc nulls last, quadrants.n_items desc, runs.audit asc, runs.target asc, quadrants.mitigation asc,
    quadrants.attribute_x asc, quadrants.attribute_y asc, quadrants.group_x asc, quadrants.group_y asc,
    quadrants.category asc
