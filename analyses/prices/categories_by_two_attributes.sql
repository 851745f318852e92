-- Where do categories lie in the plane of two attributes? Those that lean to one side by more than chance first.
{{ config(enabled='prices' in env_var('BIASLEDGER_ROOMS', 'prices')) }}

with

planes as (
    select *
    from {{ ref("fct_category_planes") }}
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
    planes.variant,
    planes.attribute_x,
    planes.attribute_y,
    planes.category,
    planes.category_set,
    planes.quadrant,
    planes.difference_x,
    planes.difference_y,
    least(planes.p_value_adjusted_x, planes.p_value_adjusted_y) as smallest_p_value,
    planes.n_items
from planes
inner join runs on planes.run_id = runs.run_id
order by
    smallest_p_value asc nulls last, planes.n_items desc, runs.audit asc, runs.target asc, planes.variant asc,
    planes.attribute_x asc, planes.attribute_y asc, planes.group_x asc, planes.group_y asc, planes.category asc
