with

measures as (
    select *
    from {{ ref("measures") }}
)

{{ contracted("measures") }}
