with

contrasts as (
    select *
    from {{ ref("int_contrasts") }}
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
        mitigation,
        n_permutations
    from {{ ref("int_markers_families") }}
),

compared as (
    select
        units.gap_key,
        contrasts.*,
        units.outcome,
        units.scheme,
        units.domain,
        units.unit_kind,
        markers_runs.analysis_hash,
        markers_runs.markers_hash,
        -- Scores are all judged that are compared, of the schemes the first.
        units.outcome <> 'stereotype_ratio' or units.scheme = markers_runs.schemes[1] as is_judged,
        count(distinct coalesce(units.name, units.unit)) filter (where units.is_marked and units.n > 0)
            as n_marked_units,
        count(distinct coalesce(units.name, units.unit)) filter (where not units.is_marked and units.n > 0)
            as n_reference_units,
        sum(units.n_answers) filter (where units.is_marked) as n_marked,
        sum(units.n_answers) filter (where not units.is_marked) as n_reference,
        sum(units.total_of_answers order by units.unit) filter (where units.is_marked) / n_marked
        - sum(units.total_of_answers order by units.unit) filter (where not units.is_marked) / n_reference as raw_gap,
        -- Shifted by their questions, a name's texts may lie outside what a single text can have.
        least(0, min(units.total / units.n) filter (where units.n > 0)) as outcome_lowest,
        greatest(1, max(units.total / units.n) filter (where units.n > 0)) as outcome_highest,
        {{ fingerprint_of([
            "units.unit", "units.stratum", "units.cluster", "units.name", "units.name_stratum",
            "units.is_marked", "units.n", "units.total",
        ]) }} as fingerprint
    from units
    inner join contrasts on units.contrast_id = contrasts.contrast_id
    inner join markers_runs on contrasts.run_id = markers_runs.run_id
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
            and compared.mitigation = families.mitigation
    where
        compared.n_marked_units > 0
        and compared.n_reference_units > 0
),

keyed_comparisons as (
    select
        -- Everything a gap's numbers depend on; they are cached under this key.
        {{ key_of([
            "contrast_id", "outcome", "scheme", "domain", "analysis_hash", "markers_hash", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
