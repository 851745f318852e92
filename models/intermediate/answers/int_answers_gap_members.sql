{{ config(materialized="by_run") }}

with

-- If neither group has such an answer, there is nothing to permute.
comparisons as (
    select *
    from {{ run_rows("int_answers_gap_comparisons") }}
    where n_events > 0
),

units as (
    select
        * exclude (n),
        unnest(['refused', 'unusable', 'failed']) as scheme,
        unnest([n, n, n_asked]) as n,
        unnest([n_refused, n_unusable, n_failed]) as total
    from {{ run_rows("int_answers_gap_units") }}
),

outcomes as (
    select
        run_id,
        prompt_id,
        trial,
        conversation,
        unnest(['refused', 'unusable', 'failed']) as scheme,
        unnest([n, n, n_asked]) as n,
        unnest([n_refused, n_unusable, n_failed]) as total
    from {{ run_rows("int_answers_outcomes") }}
),

by_prompt as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        units.prompt_id,
        0 as trial,
        units.label,
        units.stratum,
        units.name_stratum,
        if(comparisons.has_names, units.name, null) as name,
        coalesce(units.sampled, units.prompt_id) as sampled,
        coalesce(units.whole, units.prompt_id) as whole,
        units.n,
        units.total
    from comparisons
    inner join units
        on
            comparisons.contrast_id = units.contrast_id
            and comparisons.scheme = units.scheme
    where
        comparisons.unit = 'prompt'
        and units.n > 0
),

by_trial as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        units.prompt_id,
        outcomes.trial,
        units.label,
        units.stratum,
        units.name_stratum,
        cast(null as varchar) as name,
        -- The answers of a conversation move together.
        concat_ws(' | ', units.prompt_id, outcomes.conversation) as sampled,
        concat_ws(' | ', units.prompt_id, outcomes.conversation) as whole,
        outcomes.n,
        outcomes.total
    from comparisons
    inner join units
        on
            comparisons.contrast_id = units.contrast_id
            and comparisons.scheme = units.scheme
    inner join outcomes
        on
            comparisons.run_id = outcomes.run_id
            and units.prompt_id = outcomes.prompt_id
            and comparisons.scheme = outcomes.scheme
    where
        comparisons.unit = 'trial'
        and outcomes.n > 0
),

rows_of_units as (
    select * from by_prompt
    union all by name
    select * from by_trial
),

members as (
    select
        run_id,
        comparison_key,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(
            row_number() over (
                partition by comparison_key order by stratum, label, prompt_id, trial
            ) - 1 as integer
        ) as unit_id,
        label,
        cast(dense_rank() over (partition by comparison_key order by stratum) - 1 as integer) as stratum_id,
        cast(dense_rank() over (partition by comparison_key order by sampled) - 1 as integer) as cluster_id,
        cast(dense_rank() over (partition by comparison_key order by stratum, label, whole) - 1 as integer) as whole_id,
        cast(
            if(
                name is null, null,
                dense_rank() over (partition by comparison_key order by label, name_stratum, name) - 1
            ) as integer
        ) as name_id,
        cast(dense_rank() over (partition by comparison_key order by name_stratum) - 1 as integer) as name_stratum_id,
        n,
        total
    from rows_of_units
)

select * from members
