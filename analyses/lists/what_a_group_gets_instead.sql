-- What does a group get instead? The ten items that its lists hold more often than the neutral lists of the same
-- subjects, and the ten that they hold less often; counted, not tested.
{{ config(enabled='lists' in env_var('BIASLEDGER_ROOMS', 'lists')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

items as (
    select *
    from {{ ref("fct_list_items") }}
    where
        scheme = 'items'
        and wording = 'clean'
        and not is_repeat
),

-- The neutral prompt that findings compare with.
neutral_templates as (
    select distinct
        run_id,
        neutral
    from {{ ref("fct_group_similarity") }}
    where
        scheme = 'items'
        and wording = 'clean'
        and is_judged_neutral
),

n_lists as (
    select
        run_id,
        variant,
        domain,
        subject,
        template,
        attribute,
        group_name,
        sum(case when item_rank = 1 then 1 else 0 end) as n_lists
    from items
    group by run_id, variant, domain, subject, template, attribute, group_name
),

held as (
    select
        items.run_id,
        items.variant,
        items.domain,
        items.subject,
        items.template,
        items.attribute,
        items.group_name,
        items.item,
        count(*) / cast(max(n_lists.n_lists) as double) as share
    from items
    inner join n_lists
        on
            items.run_id = n_lists.run_id
            and items.variant = n_lists.variant
            and items.domain = n_lists.domain
            and items.subject = n_lists.subject
            and items.template = n_lists.template
            and coalesce(items.attribute, '') = coalesce(n_lists.attribute, '')
            and coalesce(items.group_name, '') = coalesce(n_lists.group_name, '')
    group by
        items.run_id, items.variant, items.domain, items.subject, items.template, items.attribute, items.group_name,
        items.item
),

-- Subjects with lists of the group and neutral ones.
compared as (
    select
        of_groups.run_id,
        of_groups.variant,
        of_groups.domain,
        of_groups.subject,
        of_groups.template,
        of_groups.attribute,
        of_groups.group_name,
        neutral_templates.neutral
    from n_lists as of_groups
    inner join neutral_templates on of_groups.run_id = neutral_templates.run_id
    inner join n_lists as of_nobody
        on
            of_groups.run_id = of_nobody.run_id
            and of_groups.variant = of_nobody.variant
            and of_groups.domain = of_nobody.domain
            and of_groups.subject = of_nobody.subject
            and neutral_templates.neutral = of_nobody.template
    where
        of_groups.attribute is not null
        and of_nobody.attribute is null
),

differences as (
    select
        compared.run_id,
        compared.variant,
        compared.domain,
        compared.attribute,
        compared.group_name,
        compared.subject,
        held.item,
        held.share as share_of_group,
        0.0 as share_of_neutral
    from compared
    inner join held
        on
            compared.run_id = held.run_id
            and compared.variant = held.variant
            and compared.domain = held.domain
            and compared.subject = held.subject
            and compared.template = held.template
            and compared.attribute = held.attribute
            and compared.group_name = held.group_name
    union all
    select
        compared.run_id,
        compared.variant,
        compared.domain,
        compared.attribute,
        compared.group_name,
        compared.subject,
        held.item,
        0.0 as share_of_group,
        held.share as share_of_neutral
    from compared
    inner join held
        on
            compared.run_id = held.run_id
            and compared.variant = held.variant
            and compared.domain = held.domain
            and compared.subject = held.subject
            and compared.neutral = held.template
    where held.attribute is null
),

-- A subject counts as one list, the mean of its trials.
of_items as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        item,
        count(distinct subject) as n_subjects,
        sum(share_of_group order by share_of_group) as lists_of_group,
        sum(share_of_neutral order by share_of_neutral) as neutral_lists,
        sum(share_of_group order by share_of_group) - sum(share_of_neutral order by share_of_neutral) as difference
    from differences
    group by run_id, variant, domain, attribute, group_name, item
),

ranked as (
    select
        *,
        row_number() over (
            partition by run_id, variant, domain, attribute, group_name
            order by difference desc, item asc
        ) as rank_from_above,
        row_number() over (
            partition by run_id, variant, domain, attribute, group_name
            order by difference asc, item asc
        ) as rank_from_below
    from of_items
)

select
    runs.audit,
    runs.target,
    ranked.variant,
    ranked.domain,
    ranked.attribute,
    ranked.group_name,
    case when ranked.difference > 0 then 'more often' else 'less often' end as direction,
    case when ranked.difference > 0 then ranked.rank_from_above else ranked.rank_from_below end as item_rank,
    ranked.item,
    ranked.n_subjects,
    ranked.lists_of_group,
    ranked.neutral_lists,
    ranked.difference
from ranked
inner join runs on ranked.run_id = runs.run_id
where
    (ranked.difference > 0 and ranked.rank_from_above <= 10)
    or (ranked.difference < 0 and ranked.rank_from_below <= 10)
order by
    runs.audit asc, runs.target asc, ranked.variant asc, ranked.domain asc, ranked.attribute asc, ranked.group_name asc,
    direction desc, item_rank asc
