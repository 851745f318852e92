{%- set runs = new_runs(ref("int_prices_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_prices_runs", told_by="run_id") }}

with

recommended_items as (
    select *
    from {{ ref("int_prices_items") }}
    where {{ is_of_runs("run_id", runs) }}
)

{{ contracted("recommended_items") }}
