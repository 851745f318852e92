with

verdicts as (
    select *
    from {{ ref("fct_verdicts") }}
    where
        is_current
        and variant = 'plain'
)

{{ contracted("verdicts") }}
