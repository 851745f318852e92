-- Do single names drive a gap in price? The gap with each name left out.
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

contrasts as (
    select *
    from {{ ref("dim_contrasts") }}
    where
        comparison = 'against_reference'
        and not is_crossed
),

of_descriptors as (
    select
        items.run_id,
        items.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        prompt_groups.descriptor,
        sum(items.n) as n,
        sum(items.n * items.price_level) as price_levels
    from {{ ref("fct_recommended_items") }} as items
    inner join {{ ref("dim_prompt_groups") }} as prompt_groups
        on
            items.run_id = prompt_groups.run_id
            and items.prompt_id = prompt_groups.prompt_id
    where
        items.price_level is not null
        and prompt_groups.descriptor is not null
    group by
        items.run_id, items.mitigation, prompt_groups.attribute, prompt_groups.group_name, prompt_groups.descriptor
),

of_groups as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        count(*) as n_descriptors,
        sum(n) as n,
        sum(price_levels) as price_levels
    from of_descriptors
    group by run_id, mitigation, attribute, group_name
),

-- Both sides of a contrast: of a name of the reference group the gap moves the other way.
sides as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name as own_group,
        reference_group as other_group,
        1 as direction
    from contrasts
    union all
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        reference_group as own_group,
        group_name as other_group,
        -1 as direction
    from contrasts
),

left_out as (
    select
        sides.contrast_id,
        of_descriptors.descriptor,
        sides.own_group as group_of_name,
        own_groups.n_descriptors as n_names_of_group,
        of_descriptors.n as n_items,
        of_descriptors.price_levels / of_descriptors.n as mean_price_level,
        sides.direction
        * (own_groups.price_levels / own_groups.n - other_groups.price_levels / other_groups.n) as gap,
        sides.direction
        * (
            (own_groups.price_levels - of_descriptors.price_levels) / nullif(own_groups.n - of_descriptors.n, 0)
            - other_groups.price_levels / other_groups.n
        ) as gap_without
    from sides
    inner join of_descriptors
        on
            sides.run_id = of_descriptors.run_id
            and sides.mitigation = of_descriptors.mitigation
            and sides.attribute = of_descriptors.attribute
            and sides.own_group = of_descriptors.group_name
    inner join of_groups as own_groups
        on
            sides.run_id = own_groups.run_id
            and sides.mitigation = own_groups.mitigation
            and sides.attribute = own_groups.attribute
            and sides.own_group = own_groups.group_name
    inner join of_groups as other_groups
        on
            sides.run_id = other_groups.run_id
            and sides.mitigation = other_groups.mitigation
            and sides.attribute = other_groups.attribute
            and sides.other_group = other_groups.group_name
)

select
    runs.audit,
    runs.target,
    contrasts.mitigation,
    contrasts.attribute,
    contrasts.group_name,
    contrasts.reference_group,
    left_out.descriptor as left_out_name,
    left_out.group_of_name,
    left_out.n_names_of_group,
    left_out.n_items,
    left_out.mean_price_level,
    left_out.gap,
    left_out.gap_without,
    left_out.gap - left_out.gap_without as moved_by_the_name
from contrasts
inner join runs on contrasts.run_id = runs.run_id
inner join left_out on contrasts.contrast_id = left_out.contrast_id
order by
    runs.audit asc, runs.target asc, contrasts.mitigation asc, contrasts.attribute asc, contrasts.group_name asc,
    abs(left_out.gap - left_out.gap_without) desc nulls last, left_out.descriptor asc, left_out.group_of_name asc
