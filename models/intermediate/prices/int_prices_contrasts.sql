with

units as (
    select *
    from {{ ref("int_prices_units") }}
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
        reference_group
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
        * exclude (all_groups, comparison),
        len(groups) = len(all_groups) as is_of_all_groups
    from contrasted
    where
        list_has_all(all_groups, groups)
        and not (comparison = 'all_groups' and has_reference and len(all_groups) = 2)
)

select * from prices_contrasts
