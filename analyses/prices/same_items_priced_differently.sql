-- Is the same item said to be dearer where another group is mentioned?
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

-- The gap in price among items that both groups get, where answers state prices themselves, next to the gap of all
-- their items.
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
    where comparison = 'against_reference'
),

-- An item priced by a catalogue has one price for everybody.
stated as (
    select
        items.run_id,
        items.mitigation,
        items.domain,
        items.item,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(items.n) as n,
        sum(items.n * items.price_level) as price_levels
    from {{ ref("fct_recommended_items") }} as items
    inner join {{ ref("dim_prompt_groups") }} as prompt_groups
        on
            items.run_id = prompt_groups.run_id
            and items.prompt_id = prompt_groups.prompt_id
    where
        items.price_level is not null
        and items.item is not null
        and not coalesce(items.is_in_catalogue, false)
    group by
        items.run_id, items.mitigation, items.domain, items.item, prompt_groups.attribute, prompt_groups.group_name
),

totals as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        sum(price_levels) / sum(n) as mean_price_level
    from stated
    group by run_id, mitigation, attribute, group_name
),

-- An item weighs as much as both groups' numbers allow to compare it.
of_both as (
    select
        contrasts.contrast_id,
        marked.domain,
        marked.item,
        marked.n * reference.n / (marked.n + reference.n) as item_weight,
        marked.price_levels / marked.n - reference.price_levels / reference.n as gap
    from contrasts
    inner join stated as marked
        on
            contrasts.run_id = marked.run_id
            and contrasts.mitigation = marked.mitigation
            and contrasts.attribute = marked.attribute
            and contrasts.group_name = marked.group_name
    inner join stated as reference
        on
            marked.run_id = reference.run_id
            and marked.mitigation = reference.mitigation
            and marked.domain = reference.domain
            and marked.item = reference.item
            and contrasts.attribute = reference.attribute
            and contrasts.reference_group = reference.group_name
),

ranked as (
    select
        *,
        row_number() over (
            partition by contrast_id order by abs(gap) * item_weight desc, item asc, domain asc
        ) as gap_rank
    from of_both
),

summed as (
    select
        contrast_id,
        count(*) as n_items_of_both,
        sum(case when gap <> 0 then 1 else 0 end) as n_priced_differently,
        sum(item_weight * gap order by item_weight * gap)
        / sum(item_weight order by item_weight) as gap_of_same_items,
        max(case when gap_rank = 1 and gap <> 0 then item end) as item_that_differs_most,
        max(case when gap_rank = 1 and gap <> 0 then gap end) as gap_of_that_item
    from ranked
    group by contrast_id
)

select
    runs.audit,
    runs.target,
    contrasts.mitigation,
    contrasts.attribute,
    contrasts.group_name,
    contrasts.reference_group,
    summed.n_items_of_both,
    summed.n_priced_differently,
    summed.gap_of_same_items,
    marked.mean_price_level - reference.mean_price_level as gap_of_all_items,
    summed.item_that_differs_most,
    summed.gap_of_that_item
from contrasts
inner join runs on contrasts.run_id = runs.run_id
inner join summed on contrasts.contrast_id = summed.contrast_id
inner join totals as marked
    on
        contrasts.run_id = marked.run_id
        and contrasts.mitigation = marked.mitigation
        and contrasts.attribute = marked.attribute
        and contrasts.group_name = marked.group_name
inner join totals as reference
    on
        contrasts.run_id = reference.run_id
        and contrasts.mitigation = reference.mitigation
        and contrasts.attribute = reference.attribute
        and contrasts.reference_group = reference.group_name
order by
    abs(summed.gap_of_same_items) desc, runs.audit asc, runs.target asc, contrasts.mitigation asc,
    contrasts.attribute asc, contrasts.group_name asc
