with

relevance as (
    select
        relevance_hash,
        domain,
        subject,
        item,
        grade
    from {{ source("ledger", "relevance") }}
)

select * from relevance
