with

run_pairs as (
    select *
    from {{ ref("int_run_pairs") }}
)

{{ contracted("run_pairs") }}
