with {{ gaps_of("stereotype_ratio") }},

stereotype_gaps as (
    select
        *,
        domain as category
    from gaps_of_outcomes
)

{{ contracted("stereotype_gaps") }}
