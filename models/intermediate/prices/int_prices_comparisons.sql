with

units as (
    select *
    from {{ ref("int_prices_units") }}
),

prices_runs as (
    select
        run_id,
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

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        comparison,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where comparison in ('all_groups', 'against_reference')
),

attribute_groups as (
    select
        units.run_id,
        units.mitigation,
        units.attribute,
        units.unit_kind,
        units.kind,
        units.is_crossed,
        units.is_movable,
        run_attributes.reference_group,
        list_sort(list(distinct units.group_name)) as groups_with_items,
        list_sort(list(distinct units.label_group)) as label_groups,
        list_sort(list(distinct units.block_group)) as block_groups
    from units
    inner join run_attributes
        on
            units.run_id = run_attributes.run_id
            and units.attribute = run_attributes.attribute
    where units.topic = 'prices'
    group by all
),

-- Label 0 is the reference group, where the audit names one; nothing is compared if that has no items.
labelled as (
    select
        * exclude (reference_group, groups_with_items, block_groups),
        reference_group is not null as has_reference,
        if(
            has_reference, [reference_group] || list_filter(groups_with_items, lambda one: one <> reference_group),
            groups_with_items
        ) as all_groups
    from attribute_groups
    where
        len(groups_with_items) > 1
        and (reference_group is null or list_contains(groups_with_items, reference_group))
        and (kind <> 'same' or (len(label_groups) = 2 and label_groups = block_groups))
),

-- All groups at once give the published shares; where there are more than two, each is judged against the reference in
-- a comparison of its own, because the share of one falls when that of another rises.
contrasted as (
    select
        'prices' as topic,
        contrasts.contrast_id,
        contrasts.comparison,
        contrasts.group_name,
        contrasts.reference_group,
        labelled.*,
        if(
            contrasts.comparison = 'all_groups', labelled.all_groups,
            [contrasts.reference_group, contrasts.group_name]
        ) as groups
    from labelled
    inner join contrasts
        on
            labelled.run_id = contrasts.run_id
            and labelled.mitigation = contrasts.mitigation
            and labelled.attribute = contrasts.attribute
),

prices_contrasts as (
    select
        * exclude (all_groups, comparison, unit_kind, kind, is_movable),
        len(groups) = len(all_groups) as is_of_all_groups
    from contrasted
    where
        list_has_all(all_groups, groups)
        and not (comparison = 'all_groups' and has_reference and len(all_groups) = 2)
),

category_contrasts as (
    select
        'categories' as topic,
        * exclude (comparison),
        true as has_reference,
        [reference_group, group_name] as groups
    from contrasts
    where comparison = 'against_reference'
),

topic_contrasts as (
    select * from prices_contrasts
    union all by name
    select * from category_contrasts
),

-- A domain in which one group has no items does not show a difference.
compared_units as (
    select
        topic_contrasts.contrast_id,
        units.*,
        units.group_name = topic_contrasts.group_name as is_marked
    from topic_contrasts
    inner join units
        on
            topic_contrasts.topic = units.topic
            and topic_contrasts.run_id = units.run_id
            and topic_contrasts.mitigation = units.mitigation
            and topic_contrasts.attribute = units.attribute
    where list_contains(topic_contrasts.groups, units.group_name)
    qualify
        count(distinct units.group_name) over (
            partition by topic_contrasts.topic, topic_contrasts.contrast_id, units.domain
        ) = len(topic_contrasts.groups)
),

compared as (
    select
        topic,
        contrast_id,
        unit_kind,
        kind,
        is_movable,
        list_sort(list(distinct label_group)) as label_groups,
        list_sort(list(distinct domain)) as domains,
        list_sort(list(distinct category) filter (where category is not null)) as categories,
        least(
            count(distinct cluster) filter (where is_marked), count(distinct cluster) filter (where not is_marked)
        ) as n_smaller_clusters
    from compared_units
    group by topic, contrast_id, unit_kind, kind, is_movable
),

-- Judged together: shares, mean price and categories of each contrast; or the spread of all groups' means.
counted as (
    select
        topic_contrasts.* exclude (label_groups),
        compared.unit_kind,
        compared.kind,
        compared.is_movable,
        compared.domains,
        compared.categories,
        compared.n_smaller_clusters,
        coalesce(topic_contrasts.label_groups, compared.label_groups) as label_groups,
        prices_runs.n_levels,
        len(topic_contrasts.groups) as n_groups,
        len(compared.domains) as n_sets,
        len(compared.categories) as n_categories,
        sum(
            if(topic_contrasts.has_reference, if(len(topic_contrasts.groups) = 2, 3, 0), 1)
        ) over (
            partition by
                topic_contrasts.topic, topic_contrasts.run_id, topic_contrasts.mitigation, topic_contrasts.is_crossed
        ) as n_findings
    from topic_contrasts
    inner join compared
        on
            topic_contrasts.topic = compared.topic
            and topic_contrasts.contrast_id = compared.contrast_id
    inner join prices_runs on topic_contrasts.run_id = prices_runs.run_id
    where
        topic_contrasts.topic = 'prices'
        or (len(compared.categories) > 0 and (compared.kind <> 'same' or len(compared.label_groups) = 2))
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
        {{ key_of(["topic", "contrast_id"]) }} as comparison_key,
        *,
        if(kind = 'same', 2, 1) as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
