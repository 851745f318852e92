{{ config(materialized="by_run") }}

with

recommended_items as (
    select *
    from {{ run_rows("int_prices_items") }}
)

{{ contracted("recommended_items") }}
