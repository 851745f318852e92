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
        other_groups,
        prompt_id,
        carriers,
        text_key,
        n_responses,
        n_trials,
        first_seq
    from {{ ref("int_words_comparison_units") }}
),

-- What each name or wording of a group stands beside, over all prompts that hold it.
carried as (
    select
        run_id,
        variant,
        scheme,
        attribute,
        comparison,
        group_name,
        reference_group,
        label,
        carriers,
        array_to_string(list_sort(list_distinct(list(other_groups))), ' / ') as other_groups
    from comparison_units
    group by run_id, variant, scheme, attribute, comparison, group_name, reference_group, label, carriers
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
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by comparison_units.prompt_id
            ) - 1 as integer
        ) as prompt_id,
        -- Names and wordings change places among those that stand beside the same other groups.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by carried.other_groups
            ) - 1 as integer
        ) as carrier_stratum_id,
        comparison_units.n_responses,
        comparison_units.n_trials,
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
    inner join carried
        on
            comparison_units.run_id = carried.run_id
            and comparison_units.variant = carried.variant
            and comparison_units.scheme = carried.scheme
            and comparison_units.attribute = carried.attribute
            and comparison_units.comparison = carried.comparison
            and comparison_units.group_name = carried.group_name
            and comparison_units.reference_group = carried.reference_group
            and comparison_units.label = carried.label
            and comparison_units.carriers = carried.carriers
)

select * from words_members
