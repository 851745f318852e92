with

predictions as (
    select
        *,
        selected as is_selected,
        correct as is_correct
    from {{ ref("int_decisions_predictions") }}
)

{{ contracted("predictions") }}
