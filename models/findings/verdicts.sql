with

verdicts as (
    select *
    from {{ ref("fct_verdicts") }}
    where
        is_current
        and mitigation = 'plain'
)

{{ contracted("verdicts") }}
