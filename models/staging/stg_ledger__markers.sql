with

markers as (
    select
        markers_hash,
        probe,
        category,
        list,
        direction,
        group_name,
        kind,
        marker
    from {{ source("ledger", "markers") }}
)

select * from markers
