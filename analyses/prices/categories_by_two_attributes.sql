{{ config(enabled='prices' in env_var('BIASLEDGER_ROOMS', 'words lists decisions prices markers')) }}
-- Where categories lie in the plane of two attributes, those that lean to one side by more than chance first.
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
    planes.attribute_x,
    planes.attribute_y,
    planes.category,
    planes.category_set,
    planes.quadrant,
    planes.difference_x,
    planes.difference_y,
    least(planes.p_value_adjusted_x, planes.p_value_adjusted_y) as smallest_p_value
from planes
inner join runs on planes.run_id = runs.run_id
order by smallest_p_value asc nulls last, planes.n_items desc
