with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        scheme,
        attribute,
        comparison,
        group_name,
        reference_group
    from {{ ref("int_words_comparisons") }}
),

comparison_units as (
    select
        run_id,
        variant,
        scheme,
        attribute,
        comparison,
        group_name,
        reference_group,
        unit_id,
        label,
        stratum,
        carriers,
        text_key,
        first_seq
    from {{ ref("int_words_comparison_units") }}
),

words_members as (
    select
        comparisons.comparison_key,
        comparison_units.unit_id,
        comparison_units.label,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by comparison_units.stratum
            ) - 1 as integer
        ) as stratum_id,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by comparison_units.text_key
            ) - 1 as integer
        ) as cluster_id,
        -- The published procedures number classes by the words that stood in the prompt.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by comparison_units.carriers
            ) - 1 as integer
        ) as carrier_id,
        comparison_units.first_seq
    from comparisons
    inner join comparison_units
        on
            comparisons.run_id = comparison_units.run_id
            and comparisons.variant = comparison_units.variant
            and comparisons.scheme = comparison_units.scheme
            and comparisons.attribute = comparison_units.attribute
            and comparisons.comparison = comparison_units.comparison
            and comparisons.group_name = comparison_units.group_name
            and comparisons.reference_group = comparison_units.reference_group
)

select * from words_members
