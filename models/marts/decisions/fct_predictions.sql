{{ config(materialized="by_run") }}

with

predictions as (
    select
        *,
        selected as is_selected,
        correct as is_correct
    from {{ run_rows("int_decisions_predictions") }}
)

{{ contracted("predictions") }}
