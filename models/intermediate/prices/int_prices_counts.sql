{{ config(materialized="by_run") }}

with

comparisons as (
    select
        topic,
        run_id,
        mitigation,
        attribute,
        group_name as marked_group,
        comparison_key,
        kind,
        groups,
        label_groups,
        domains,
        categories
    from {{ run_rows("int_prices_comparisons") }}
),

units as (
    select *
    from {{ run_rows("int_prices_units") }}
),

compared_units as (
    select
        comparisons.*,
        units.unit,
        units.stratum,
        units.cluster,
        units.group_name,
        units.label_group,
        units.block_group,
        units.domain,
        units.question,
        units.price_level,
        units.category,
        units.n
    from comparisons
    inner join units
        on
            comparisons.topic = units.topic
            and comparisons.run_id = units.run_id
            and comparisons.mitigation = units.mitigation
            and comparisons.attribute = units.attribute
    where
        list_contains(comparisons.groups, units.group_name)
        and list_contains(comparisons.domains, units.domain)
),

-- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
counts as (
    select
        run_id,
        topic,
        comparison_key,
        cast(dense_rank() over (partition by comparison_key order by unit, stratum) - 1 as integer) as unit_id,
        cast(list_position(if(kind = 'same', label_groups, groups), label_group) - 1 as tinyint) as label,
        cast(dense_rank() over (partition by comparison_key order by stratum) - 1 as integer) as stratum_id,
        cast(dense_rank() over (partition by comparison_key order by cluster) - 1 as integer) as cluster_id,
        group_name = marked_group as is_marked,
        -- A pair is "same" where the first word's label and the second word's block differ (1 and 0, or 0 and 1).
        cast(if(kind = 'same', block_group <> label_groups[2], false) as tinyint) as block,
        cast(list_position(domains, domain) - 1 as integer) as set_id,
        -- Numbers cover all questions of the comparison, so that a question has one number in every group.
        cast(dense_rank() over (partition by comparison_key order by domain, question) - 1 as integer) as question_id,
        cast(price_level as integer) as level,
        cast(list_position(categories, category) - 1 as integer) as category_id,
        n
    from compared_units
)

select * from counts
