{%- set runs = new_runs(ref("int_markers_scored_runs"), key="scores_state") -%}
{{ config(materialized="kept", kept_by="scores_state", kept_in="int_markers_scored_runs", told_by="run_id") }}

with

answer_scores as (
    select *
    from {{ ref("int_markers_answer_scores") }}
    where {{ is_of_runs("run_id", runs) }}
)

{{ contracted("answer_scores") }}
