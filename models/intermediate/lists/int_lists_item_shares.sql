with

responses as (
    select
        run_id,
        lists_key,
        list_key,
        variant,
        domain,
        subject,
        template,
        attribute,
        group_name
    from {{ ref("int_lists_responses") }}
    where
        scheme = 'items'
        and wording = 'clean'
        and has_list
),

places as (
    select
        lists_key,
        list_key,
        item
    from {{ ref("int_lists_places") }}
    where not is_repeat
),

-- The neutral prompt that findings compare with.
neutral_templates as (
    select distinct
        run_id,
        neutral
    from {{ ref("int_lists_group_values") }}
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
        count(*) as n_lists
    from responses
    group by run_id, variant, domain, subject, template, attribute, group_name
),

held as (
    select
        responses.run_id,
        responses.variant,
        responses.domain,
        responses.subject,
        responses.template,
        responses.attribute,
        responses.group_name,
        places.item,
        count(*) as n_holding
    from responses
    inner join places
        on
            responses.lists_key = places.lists_key
            and responses.list_key = places.list_key
    group by
        responses.run_id, responses.variant, responses.domain, responses.subject, responses.template,
        responses.attribute, responses.group_name, places.item
),

-- Subjects with lists of the group and neutral ones.
compared as (
    select
        of_groups.*,
        of_nobody.template as neutral,
        of_nobody.n_lists as n_neutral_lists
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

shares as (
    select
        compared.*,
        held.item,
        held.n_holding / compared.n_lists as share_of_group,
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
    union all by name
    select
        compared.*,
        held.item,
        0.0 as share_of_group,
        held.n_holding / compared.n_neutral_lists as share_of_neutral
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

-- Of several templates a subject's share is their mean, so that it stays one list.
templates as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        subject,
        count(*) as n_templates
    from compared
    group by run_id, variant, domain, attribute, group_name, subject
),

item_shares as (
    select
        {{ key_of(["shares.run_id", "shares.variant", "shares.domain", "shares.attribute", "shares.group_name"]) }}
            as item_set_id,
        shares.run_id,
        shares.variant,
        shares.domain,
        shares.attribute,
        shares.group_name,
        shares.subject,
        shares.item,
        sum(shares.share_of_group order by shares.share_of_group) / any_value(templates.n_templates) as share_of_group,
        sum(shares.share_of_neutral order by shares.share_of_neutral) / any_value(templates.n_templates)
            as share_of_neutral
    from shares
    inner join templates
        on
            shares.run_id = templates.run_id
            and shares.variant = templates.variant
            and shares.domain = templates.domain
            and shares.attribute = templates.attribute
            and shares.group_name = templates.group_name
            and shares.subject = templates.subject
    group by
        shares.run_id, shares.variant, shares.domain, shares.attribute, shares.group_name, shares.subject, shares.item
)

select * from item_shares
