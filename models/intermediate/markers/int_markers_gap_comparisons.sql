with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        comparison,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Whose group nobody knows stands for no group.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

markers_runs as (
    select *
    from {{ ref("int_markers_runs") }}
),

units as (
    select *
    from {{ ref("int_markers_gap_units") }}
),

families as (
    select
        run_id,
        variant,
        n_permutations
    from {{ ref("int_markers_families") }}
),

compared as (
    select
        contrasts.run_id,
        contrasts.variant,
        units.outcome,
        units.scheme,
        units.domain,
        contrasts.attribute,
        contrasts.comparison,
        contrasts.group_name,
        contrasts.reference_group,
        contrasts.is_crossed,
        units.unit_kind,
        markers_runs.reading_hash,
        markers_runs.markers_hash,
        -- Scorers are all judged, of the schemes the first.
        units.outcome = 'negative_regard' or units.scheme = markers_runs.schemes[1] as is_judged,
        count(distinct coalesce(units.name, units.unit)) filter (
            where units.group_name = contrasts.group_name and units.n > 0
        ) as n_marked_units,
        count(distinct coalesce(units.name, units.unit)) filter (
            where units.group_name = contrasts.reference_group and units.n > 0
        ) as n_reference_units,
        sum(units.n_answers) filter (where units.group_name = contrasts.group_name) as n_marked,
        sum(units.n_answers) filter (where units.group_name = contrasts.reference_group) as n_reference,
        sum(units.total_of_answers order by units.unit) filter (where units.group_name = contrasts.group_name)
        / n_marked
        - sum(units.total_of_answers order by units.unit) filter (
            where units.group_name = contrasts.reference_group
        ) / n_reference as raw_gap,
        -- Shifted by their questions, a name's texts may lie outside what a single text can have.
        least(0, min(units.total / units.n) filter (where units.n > 0)) as outcome_lowest,
        greatest(1, max(units.total / units.n) filter (where units.n > 0)) as outcome_highest,
        bit_xor(
            hash(
                units.unit, units.stratum, units.cluster, units.name, units.name_stratum, units.group_name, units.n,
                units.total
            )
        ) as fingerprint
    from contrasts
    inner join markers_runs on contrasts.run_id = markers_runs.run_id
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.variant = units.variant
            and contrasts.attribute = units.attribute
            and contrasts.group_name = units.marked_group
            and contrasts.reference_group = units.reference_group
    group by all
),

drawn as (
    select
        compared.*,
        if(compared.is_judged, coalesce(families.n_permutations, 0), 0) as n_permutations
    from compared
    left join families
        on
            compared.run_id = families.run_id
            and compared.variant = families.variant
    where
        compared.n_marked_units > 0
        and compared.n_reference_units > 0
),

keyed_comparisons as (
    select
        -- Everything a gap's numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "outcome", "scheme", "domain", "attribute", "group_name", "reference_group", "reading_hash",
            "markers_hash", "n_permutations", "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
