with

units as (
    select *
    from {{ ref("int_prices_units") }}
),

prices_runs as (
    select
        run_id,
        reading_hash,
        n_levels
    from {{ ref("int_prices_runs") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group
    from {{ ref("int_run_attributes") }}
),

compared as (
    select
        units.run_id,
        units.variant,
        units.attribute,
        units.unit_kind,
        units.kind,
        units.is_crossed,
        units.is_movable,
        prices_runs.reading_hash,
        prices_runs.n_levels,
        run_attributes.reference_group,
        list_sort(list(distinct units.label_group)) as label_groups,
        list_sort(list(distinct units.block_group)) as block_groups,
        list_sort(list(distinct units.domain)) as domains,
        count(distinct units.cluster) as n_clusters,
        bit_xor(
            hash(
                units.unit, units.stratum, units.cluster, units.label_group, units.block_group, units.domain,
                units.price_level, units.n
            )
        ) as fingerprint
    from units
    inner join prices_runs on units.run_id = prices_runs.run_id
    inner join run_attributes
        on
            units.run_id = run_attributes.run_id
            and units.attribute = run_attributes.attribute
    group by
        units.run_id, units.variant, units.attribute, units.unit_kind, units.kind, units.is_crossed, units.is_movable,
        prices_runs.reading_hash, prices_runs.n_levels, run_attributes.reference_group
),

-- Label 0 is the reference group, where there is one. Of pairs the label is the first word's group; together with the
-- second word's it makes "different" (0) or "same" (1).
labelled as (
    select
        *,
        case
            when kind = 'same' then ['different', 'same']
            when list_contains(label_groups, reference_group)
                then [reference_group] || list_filter(label_groups, lambda name: name <> reference_group)
            else label_groups
        end as groups,
        kind = 'same' or list_contains(label_groups, reference_group) is true as has_reference
    from compared
    where
        len(label_groups) > 1
        and (kind <> 'same' or (len(label_groups) = 2 and label_groups = block_groups))
),

counted as (
    select
        *,
        len(groups) as n_groups,
        len(domains) as n_sets,
        -- Judged together: shares, mean price and categories of each group; or how far the groups' means lie apart.
        sum(if(has_reference, 3 * len(groups), 1)) over (
            partition by run_id, variant, is_crossed
        ) as n_findings
    from labelled
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
            "run_id", "variant", "attribute", "unit_kind", "groups", "domains", "n_levels", "reading_hash", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
