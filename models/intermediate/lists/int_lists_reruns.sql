with

rerun_values as (
    select *
    from {{ ref("int_lists_rerun_values") }}
),

reruns as (
    select
        rerun_key,
        cast(dense_rank() over (partition by rerun_key order by subject) - 1 as integer) as subject_id,
        cast(rerun as integer) as rerun,
        jaccard,
        serp,
        prag,
        serp_code,
        prag_code
    from rerun_values
)

select * from reruns
