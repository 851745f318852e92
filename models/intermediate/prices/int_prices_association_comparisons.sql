with

units as (
    select *
    from {{ ref("int_prices_category_units") }}
),

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_contrasts") }}
    where comparison = 'against_reference'
),

prices_runs as (
    select
        run_id,
        reading_hash,
        n_levels
    from {{ ref("int_prices_runs") }}
),

compared as (
    select
        contrasts.run_id,
        contrasts.variant,
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        units.kind,
        units.is_crossed,
        prices_runs.reading_hash,
        prices_runs.n_levels,
        list_sort(list(distinct units.label_group)) as label_groups,
        list_sort(list(distinct units.category) filter (where units.category is not null)) as categories,
        count(distinct units.unit) filter (
            where units.kind = 'same' or units.label_group = contrasts.group_name
        ) as n_marked_units,
        count(distinct units.unit) filter (
            where units.kind = 'same' or units.label_group = contrasts.reference_group
        ) as n_reference_units,
        bit_xor(
            hash(
                units.unit, units.stratum, units.cluster, units.label_group, units.block_group, units.category, units.n
            )
        ) as fingerprint
    from contrasts
    inner join prices_runs on contrasts.run_id = prices_runs.run_id
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.variant = units.variant
            and contrasts.attribute = units.attribute
            and (units.kind = 'same' or units.label_group in (contrasts.group_name, contrasts.reference_group))
    group by
        contrasts.run_id, contrasts.variant, contrasts.attribute, contrasts.group_name, contrasts.reference_group,
        units.kind, units.is_crossed, prices_runs.reading_hash, prices_runs.n_levels
),

counted as (
    select
        *,
        6 * count(*) over (partition by run_id, variant, is_crossed) as n_findings
    from compared
    where
        n_marked_units > 0
        and n_reference_units > 0
        and len(categories) > 0
        and (kind <> 'same' or len(label_groups) = 2)
),

drawn as (
    select
        *,
        -- Ten times the draws that Holm's smallest step needs; twice for intersections, which only warn. There are few
        -- units, so draws are cheap, and five times as many as elsewhere settle borderline p-values.
        case
            when {{ var("permutations") }}
                then cast(
                    greatest(
                        5 * {{ var("min_permutations") }},
                        ceil(if(is_crossed, 2, 10) * n_findings / {{ var("alpha") }}) - 1
                    ) as integer
                )
            else 0
        end as n_permutations
    from counted
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "attribute", "group_name", "reference_group", "reading_hash", "n_permutations", "fingerprint",
            "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        len(categories) as n_categories,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
