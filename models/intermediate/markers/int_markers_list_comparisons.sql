with

contrasts as (
    select *
    from {{ ref("int_contrasts") }}
),

schemes as (
    select *
    from {{ ref("int_markers_schemes") }}
    where markers_hash is not null
),

units as (
    select *
    from {{ ref("int_markers_list_units") }}
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
        contrasts.*,
        units.scheme,
        units.unit_kind,
        schemes.analysis_hash,
        schemes.markers_hash,
        schemes.is_judged,
        list_sort(list(distinct units.list) filter (where units.list is not null)) as categories,
        count(distinct units.unit) filter (where units.is_marked) as n_marked_units,
        count(distinct units.unit) filter (where not units.is_marked) as n_reference_units,
        {{ fingerprint_of([
            "units.unit", "units.stratum", "units.cluster", "units.is_marked", "units.list", "units.n",
        ]) }} as fingerprint
    from units
    inner join contrasts on units.contrast_id = contrasts.contrast_id
    inner join schemes
        on
            contrasts.run_id = schemes.run_id
            and units.scheme = schemes.scheme
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
        and len(compared.categories) > 0
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "contrast_id", "scheme", "analysis_hash", "markers_hash", "n_permutations", "fingerprint",
            "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        len(categories) as n_categories,
        1 as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
