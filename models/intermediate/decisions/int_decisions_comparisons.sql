{{ config(materialized="by_run") }}

with

contrasts as (
    select *
    from {{ run_rows("int_contrasts") }}
    where comparison = 'against_reference'
),

decisions_runs as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_decisions_runs") }}
),

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
    where
        -- Judged as an impact ratio alone.
        outcome <> 'selected_of_asked'
),

compared as (
    select
        contrasts.*,
        units.pool_key,
        units.outcome,
        units.domain,
        units.is_paired,
        decisions_runs.analysis_hash,
        bool_and(units.is_person) as are_people,
        min(units.lowest_outcome) as outcome_lowest,
        max(units.highest_outcome) as outcome_highest,
        count(*) filter (where units.n > 0 and units.group_name = contrasts.group_name) as n_marked_units,
        count(*) filter (where units.n > 0 and units.group_name = contrasts.reference_group) as n_reference_units,
        {{ fingerprint_of([
            "units.unit", "units.stratum", "units.group_name", "units.person_name", "units.name_stratum",
            "units.n_candidates", "units.n", "units.total", "units.n_unread", "units.unread_lowest",
        ]) }} as fingerprint
    from contrasts
    inner join decisions_runs on contrasts.run_id = decisions_runs.run_id
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.mitigation = units.mitigation
            and contrasts.attribute = units.attribute
    where units.group_name in (contrasts.group_name, contrasts.reference_group)
    group by all
),

counted_comparisons as (
    select
        *,
        -- Impact ratios are judged with the gaps.
        {{ permutations_for(
            "if(is_crossed, 2, 10) * count(*) over (partition by run_id, mitigation, is_crossed)"
        ) }} as n_permutations
    from compared
    where
        n_marked_units > 0
        and n_reference_units > 0
        -- Unknown groups are not compared.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

keyed_comparisons as (
    select
        -- Everything a gap's numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "mitigation", "outcome", "domain", "attribute", "group_name", "reference_group", "analysis_hash", "is_paired",
            "n_permutations", "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
