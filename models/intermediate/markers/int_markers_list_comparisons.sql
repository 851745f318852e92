with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Whose group nobody knows stands for no group.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
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
        variant,
        n_permutations
    from {{ ref("int_markers_families") }}
),

compared as (
    select
        contrasts.run_id,
        contrasts.variant,
        units.scheme,
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        units.is_crossed,
        units.unit_kind,
        schemes.reading_hash,
        schemes.markers_hash,
        schemes.is_judged,
        list_sort(list(distinct units.list) filter (where units.list is not null)) as categories,
        count(distinct units.unit) filter (where units.group_name = contrasts.group_name) as n_marked_units,
        count(distinct units.unit) filter (where units.group_name = contrasts.reference_group) as n_reference_units,
        bit_xor(
            hash(units.unit, units.stratum, units.cluster, units.group_name, units.list, units.n)
        ) as fingerprint
    from contrasts
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.variant = units.variant
            and contrasts.attribute = units.attribute
            and contrasts.group_name = units.marked_group
            and contrasts.reference_group = units.reference_group
    inner join schemes
        on
            contrasts.run_id = schemes.run_id
            and units.scheme = schemes.scheme
    group by
        contrasts.run_id, contrasts.variant, units.scheme, contrasts.attribute, contrasts.group_name,
        contrasts.reference_group, units.is_crossed, units.unit_kind, schemes.reading_hash, schemes.markers_hash,
        schemes.is_judged
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
        and len(compared.categories) > 0
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "scheme", "attribute", "group_name", "reference_group", "reading_hash", "markers_hash",
            "n_permutations", "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        len(categories) as n_categories,
        1 as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
