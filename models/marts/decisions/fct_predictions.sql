{%- set runs = new_runs(ref("int_decisions_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_decisions_runs", told_by="run_id") }}

with

predictions as (
    select
        *,
        selected as is_selected,
        correct as is_correct
    from {{ ref("int_decisions_predictions") }}
    where {{ is_of_runs("run_id", runs) }}
)

{{ contracted("predictions") }}
