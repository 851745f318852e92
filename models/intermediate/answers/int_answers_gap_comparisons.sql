with

units as (
    select
        *,
        unnest(['refused', 'unusable']) as scheme,
        unnest([n_refused, n_unusable]) as total
    from {{ ref("int_answers_gap_units") }}
),

run_readings as (
    select
        run_id,
        reading_hash
    from {{ ref("int_run_readings") }}
),

compared as (
    select
        units.run_id,
        units.variant,
        units.scheme,
        units.attribute,
        units.group_name,
        units.reference_group,
        units.is_crossed,
        run_readings.reading_hash,
        bool_and(units.name is not null) as has_names,
        sum(units.total) as n_events,
        sum(units.total) filter (where units.label = 1) as n_marked_events,
        sum(units.total) filter (where units.label = 0) as n_reference_events,
        sum(units.n) filter (where units.label = 1) as n_marked,
        sum(units.n) filter (where units.label = 0) as n_reference,
        count(*) filter (where units.label = 1) as n_marked_prompts,
        count(*) filter (where units.label = 0) as n_reference_prompts,
        bit_xor(
            hash(
                units.prompt_id, units.label, units.stratum, units.name, units.name_stratum, units.sampled,
                units.person, units.n, units.total, units.trials
            )
        ) as fingerprint
    from units
    inner join run_readings on units.run_id = run_readings.run_id
    group by
        units.run_id, units.variant, units.scheme, units.attribute, units.group_name, units.reference_group,
        units.is_crossed, run_readings.reading_hash
),

counted_comparisons as (
    select
        *,
        greatest(
            1, count(*) filter (where n_events > 0) over (partition by run_id, variant, is_crossed)
        ) as n_together,
        -- All trials of a prompt move as one where both groups were asked several, as with words. Of fewer than five
        -- nothing can be said but what became of these: their trials move, whatever else the run compares.
        if(least(n_marked_prompts, n_reference_prompts) >= 5, 'prompt', 'trial') as unit,
        {{ permutations_for("if(is_crossed, 2, 10) * n_together") }} as n_permutations
    from compared
    where
        n_marked > 0
        and n_reference > 0
),

keyed_comparisons as (
    select
        -- Everything a gap's numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "scheme", "attribute", "group_name", "reference_group", "reading_hash", "unit",
            "n_permutations", "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        -- As gaps of decisions are read: a share of answers, over all subjects.
        scheme as outcome,
        '' as domain,
        'against_reference' as comparison,
        0 as outcome_lowest,
        1 as outcome_highest,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
