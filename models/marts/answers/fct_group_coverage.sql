{{ config(materialized="by_run") }}

with

runs as (
    select
        run_id,
        spec,
        origin
    from {{ run_rows("stg_ledger__runs") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ run_rows("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("stg_ledger__prompt_attributes") }}
),

outcomes as (
    select *
    from {{ run_rows("int_answers_outcomes") }}
),

asked_attributes as (
    select
        run_id,
        unnest(
            from_json(
                spec -> 'attributes',
                '[{"attribute": "VARCHAR", "reference": "VARCHAR", "groups": [{"group": "VARCHAR"}]}]'
            )
        ) as asked
    from runs
),

declared_groups as (
    select
        run_id,
        asked.attribute,
        asked.reference as reference_group,
        unnest(list_transform(asked.groups, lambda one: one.group)) as group_name
    from asked_attributes
),

-- An attribute that only templates of a part have that was not asked is none of the run's; a file has all of them.
mitigation_attributes as (
    select distinct
        prompts.run_id,
        prompts.mitigation,
        prompt_attributes.attribute
    from prompts
    inner join prompt_attributes
        on
            prompts.run_id = prompt_attributes.run_id
            and prompts.prompt_id = prompt_attributes.prompt_id
    union
    select distinct
        prompts.run_id,
        prompts.mitigation,
        declared_groups.attribute
    from prompts
    inner join runs on prompts.run_id = runs.run_id
    inner join declared_groups on prompts.run_id = declared_groups.run_id
    where runs.origin = 'imported'
),

-- A prompt about several people counts once for each group among them.
group_prompts as (
    select distinct
        prompts.run_id,
        prompts.mitigation,
        prompts.prompt_id,
        prompt_attributes.attribute,
        prompt_attributes.group_name
    from prompts
    inner join prompt_attributes
        on
            prompts.run_id = prompt_attributes.run_id
            and prompts.prompt_id = prompt_attributes.prompt_id
),

counted as (
    select
        group_prompts.run_id,
        group_prompts.mitigation,
        group_prompts.attribute,
        group_prompts.group_name,
        count(distinct group_prompts.prompt_id) as n_prompts,
        sum(outcomes.n_asked) as n_asked,
        sum(outcomes.n_asked) filter (where outcomes.last_status = 'ok') as n_usable,
        sum(outcomes.n_asked) filter (where outcomes.last_status = 'refused') as n_refused,
        sum(outcomes.n_asked) filter (where outcomes.last_status in ('malformed', 'truncated')) as n_unusable,
        sum(outcomes.n_asked) filter (where outcomes.last_status = 'error') as n_error,
        sum(outcomes.n_asked) filter (where outcomes.last_status = 'unread') as n_unread
    from group_prompts
    left join outcomes
        on
            group_prompts.run_id = outcomes.run_id
            and group_prompts.prompt_id = outcomes.prompt_id
    group by group_prompts.run_id, group_prompts.mitigation, group_prompts.attribute, group_prompts.group_name
),

covered as (
    select
        declared_groups.run_id,
        mitigation_attributes.mitigation,
        declared_groups.attribute,
        declared_groups.group_name,
        coalesce(declared_groups.group_name = declared_groups.reference_group, false) as is_reference,
        coalesce(counted.n_prompts, 0) as n_prompts,
        coalesce(counted.n_asked, 0) as n_asked,
        coalesce(counted.n_usable, 0) as n_usable,
        coalesce(counted.n_refused, 0) as n_refused,
        coalesce(counted.n_unusable, 0) as n_unusable,
        coalesce(counted.n_error, 0) as n_error,
        coalesce(counted.n_unread, 0) as n_unread,
        runs.origin
    from declared_groups
    inner join runs on declared_groups.run_id = runs.run_id
    inner join mitigation_attributes
        on
            declared_groups.run_id = mitigation_attributes.run_id
            and declared_groups.attribute = mitigation_attributes.attribute
    left join counted
        on
            declared_groups.run_id = counted.run_id
            and mitigation_attributes.mitigation = counted.mitigation
            and declared_groups.attribute = counted.attribute
            and declared_groups.group_name = counted.group_name
),

group_coverage as (
    select
        *,
        case
            when n_usable > 0 then null
            when n_prompts = 0 and origin = 'imported' then 'the file has no row about this group'
            when n_prompts = 0 then 'no question was asked about this group'
            when n_asked = 0 then 'no question about this group was answered'
            when n_refused = n_asked and n_asked = 1 then 'the only answer is a refusal'
            when n_refused = n_asked then printf('all %s answers are refusals', {{ thousands("n_asked") }})
            else
                if(
                    n_asked = 1, 'the only answer cannot be used: ',
                    printf('none of %s answers can be used: ', {{ thousands("n_asked") }})
                )
                || concat_ws(
                    ', ',
                    case when n_refused > 0 then printf('%s refused', {{ thousands("n_refused") }}) end,
                    case when n_unread > 0 then printf('%s unread', {{ thousands("n_unread") }}) end,
                    case
                        when n_unusable > 0
                            then printf('%s malformed, cut off or empty', {{ thousands("n_unusable") }})
                    end,
                    case when n_error > 0 then printf('%s failed', {{ thousands("n_error") }}) end
                )
        end as silence,
        n_usable = 0 as is_silent
    from covered
)

{{ contracted("group_coverage") }}
