{{ config(materialized="by_run") }}

with

answer_scores as (
    select *
    from {{ run_rows("int_markers_answer_scores") }}
)

{{ contracted("answer_scores") }}
