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

attribute_groups as (
    select
        units.run_id,
        units.variant,
        units.attribute,
        units.unit_kind,
        units.kind,
        units.is_crossed,
        units.is_movable,
        run_attributes.reference_group,
        list_sort(list(distinct units.group_name)) as groups_with_items,
        list_sort(
            list(distinct units.group_name) filter (
                where units.group_name is distinct from run_attributes.reference_group
            )
        ) as marked_groups,
        list_sort(list(distinct units.label_group)) as label_groups,
        list_sort(list(distinct units.block_group)) as block_groups
    from units
    inner join run_attributes
        on
            units.run_id = run_attributes.run_id
            and units.attribute = run_attributes.attribute
    group by
        units.run_id, units.variant, units.attribute, units.unit_kind, units.kind, units.is_crossed, units.is_movable,
        run_attributes.reference_group
),

-- Label 0 is the reference group, where the audit names one; nothing is compared if that has no items.
labelled as (
    select
        * exclude (marked_groups),
        reference_group is not null as has_reference,
        if(reference_group is null, marked_groups, [reference_group] || marked_groups) as all_groups
    from attribute_groups
    where
        len(groups_with_items) > 1
        and (reference_group is null or list_contains(groups_with_items, reference_group))
        and (kind <> 'same' or (len(label_groups) = 2 and label_groups = block_groups))
),

marked_groups as (
    select
        * exclude (all_groups),
        unnest(all_groups[2:]) as marked_group
    from labelled
    where
        has_reference
        and len(all_groups) > 2
),

-- All groups at once give the published shares; where there are more than two, each is judged against the reference in
-- a comparison of its own, because the share of one falls when that of another rises.
compared_groups as (
    select
        * exclude (all_groups, reference_group),
        'all_groups' as comparison,
        all_groups as groups
    from labelled
    union all by name
    select
        * exclude (reference_group, marked_group),
        'against_reference' as comparison,
        [reference_group, marked_group] as groups
    from marked_groups
),

-- A domain in which one group has no items says nothing about the difference.
shared_domains as (
    select
        compared_groups.run_id,
        compared_groups.variant,
        compared_groups.attribute,
        compared_groups.comparison,
        compared_groups.groups,
        units.domain
    from compared_groups
    inner join units
        on
            compared_groups.run_id = units.run_id
            and compared_groups.variant = units.variant
            and compared_groups.attribute = units.attribute
            and list_contains(compared_groups.groups, units.group_name)
    group by
        compared_groups.run_id, compared_groups.variant, compared_groups.attribute, compared_groups.comparison,
        compared_groups.groups, units.domain
    having count(distinct units.group_name) = len(compared_groups.groups)
),

compared as (
    select
        compared_groups.run_id,
        compared_groups.variant,
        compared_groups.attribute,
        compared_groups.comparison,
        compared_groups.groups,
        compared_groups.unit_kind,
        compared_groups.kind,
        compared_groups.is_crossed,
        compared_groups.is_movable,
        compared_groups.has_reference,
        compared_groups.label_groups,
        list_sort(list(distinct units.domain)) as domains,
        bit_xor(
            hash(
                units.unit, units.stratum, units.cluster, units.label_group, units.block_group, units.domain,
                units.question, units.price_level, units.n
            )
        ) as fingerprint
    from compared_groups
    inner join shared_domains
        on
            compared_groups.run_id = shared_domains.run_id
            and compared_groups.variant = shared_domains.variant
            and compared_groups.attribute = shared_domains.attribute
            and compared_groups.comparison = shared_domains.comparison
            and compared_groups.groups = shared_domains.groups
    inner join units
        on
            shared_domains.run_id = units.run_id
            and shared_domains.variant = units.variant
            and shared_domains.attribute = units.attribute
            and shared_domains.domain = units.domain
            and list_contains(compared_groups.groups, units.group_name)
    group by
        compared_groups.run_id, compared_groups.variant, compared_groups.attribute, compared_groups.comparison,
        compared_groups.groups, compared_groups.unit_kind, compared_groups.kind, compared_groups.is_crossed,
        compared_groups.is_movable, compared_groups.has_reference, compared_groups.label_groups
),

counted as (
    select
        compared.*,
        prices_runs.reading_hash,
        prices_runs.n_levels,
        len(compared.groups) as n_groups,
        len(compared.domains) as n_sets,
        compared.has_reference and compared.is_movable and len(compared.groups) = 2 as is_contrast,
        -- Judged together: shares, mean price and categories of each contrast; or how far apart all groups' means lie.
        sum(if(compared.has_reference, if(len(compared.groups) = 2, 3, 0), 1)) over (
            partition by compared.run_id, compared.variant, compared.is_crossed
        ) as n_findings
    from compared
    inner join prices_runs on compared.run_id = prices_runs.run_id
),

drawn as (
    select
        *,
        -- There are few units, so draws are cheap, and five times as many as elsewhere settle borderline p-values.
        {{ permutations_for("if(is_crossed, 2, 10) * n_findings", least=5) }} as n_permutations
    from counted
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "variant", "attribute", "comparison", "unit_kind", "groups", "domains", "n_levels", "reading_hash",
            "n_permutations", "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
