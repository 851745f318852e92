{{ config(materialized="by_run") }}

with

comparisons as (
    select *
    from {{ run_rows("int_decisions_comparisons") }}
),

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
),

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where
        is_paired
        and kind <> 'ranking'
),

prompts as (
    select
        run_id,
        prompt_id,
        coalesce(domain, '') as domain,
        coalesce(subject, '') as subject,
        system_prompt,
        prompt_text
    from {{ run_rows("stg_ledger__prompts") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

-- A case is what labels move inside: all texts that were asked about it, and all that was answered.
cases as (
    select
        people.pool_key,
        people.stratum,
        list(distinct people.group_name) as groups,
        -- An import may not say what was asked.
        count(distinct hash(prompts.system_prompt, prompts.prompt_text)) = 1
        and count(prompts.prompt_text) = count(*) as is_same_prompt,
        count(distinct hash(people.label, people.score, people.is_unknown)) = 1
        -- An unread answer may say anything.
        and not bool_or(people.is_unread) as is_same_answer
    from people
    inner join prompts
        on
            people.run_id = prompts.run_id
            and people.prompt_id = prompts.prompt_id
    group by all
),

cases_of_groups as (
    select
        * exclude (groups),
        unnest(groups) as group_name,
        len(groups) as n_groups
    from cases
),

-- Groups whose every case was the same question with the same answer for all of its groups.
same_groups as (
    select
        pool_key,
        group_name
    from cases_of_groups
    group by pool_key, group_name
    having bool_and(n_groups > 1 and is_same_prompt and is_same_answer)
),

same_by_construction as (
    select comparisons.comparison_key
    from comparisons
    inner join same_groups
        on
            comparisons.pool_key = same_groups.pool_key
            and list_contains(comparisons.groups_compared, same_groups.group_name)
    group by comparisons.comparison_key, comparisons.group_name, comparisons.groups_compared
    -- A gap is no difference where the group's own cases are the same, a ratio where those of all groups are.
    having
        bool_or(same_groups.group_name = comparisons.group_name)
        or count(*) = len(comparisons.groups_compared)
),

-- Subjects asked about in either group, where different people are compared.
asked_subjects as (
    select
        comparisons.comparison_key,
        prompts.subject,
        count(distinct prompt_groups.group_name) as n_groups
    from comparisons
    inner join prompt_groups
        on
            comparisons.run_id = prompt_groups.run_id
            and comparisons.mitigation = prompt_groups.mitigation
            and comparisons.attribute = prompt_groups.attribute
    inner join prompts
        on
            prompt_groups.run_id = prompts.run_id
            and prompt_groups.prompt_id = prompts.prompt_id
            and comparisons.domain = prompts.domain
    where
        comparisons.comparison = 'against_reference'
        and not comparisons.is_paired
        and prompts.subject <> ''
        and list_contains(comparisons.groups_compared, prompt_groups.group_name)
    group by comparisons.comparison_key, prompts.subject
),

shared_subjects as (
    select
        comparison_key,
        avg(cast(n_groups = 2 as integer)) as share_shared
    from asked_subjects
    group by comparison_key
),

asked_groups as (
    select
        pool_key,
        outcome,
        group_name,
        sum(n) as n_read,
        cast(sum(n_unread) as bigint) as n_unread
    from units
    group by pool_key, outcome, group_name
),

-- Answers that no rule reads, by group. A group that is no small part of a pool and has no other answers is missing
-- from the impact ratio, and could be selected at any rate.
unread_groups as (
    select
        *,
        n_read = 0
        and (n_read + n_unread) / sum(n_read + n_unread) over (partition by pool_key, outcome) >= 0.02
        and not {{ is_unknown_group("group_name") }} as is_missing,
        printf('%s %d', replace(group_name, '*', ' × '), n_unread) as counted
    from asked_groups
    qualify n_unread > 0
),

unread as (
    select
        comparisons.comparison_key,
        sum(unread_groups.n_unread) as n_unread,
        bool_or(unread_groups.is_missing) as is_group_missing,
        string_agg(unread_groups.counted, ', ' order by unread_groups.n_unread desc, unread_groups.group_name asc)
            as unread_by_group
    from comparisons
    inner join unread_groups
        on
            comparisons.pool_key = unread_groups.pool_key
            and comparisons.outcome = unread_groups.outcome
            and (
                list_contains(comparisons.groups_compared, unread_groups.group_name)
                or (comparisons.comparison = 'all_groups' and unread_groups.is_missing)
            )
    group by comparisons.comparison_key
),

cautions as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        same_by_construction.comparison_key is not null as is_same_by_construction,
        shared_subjects.share_shared,
        unread.n_unread,
        unread.is_group_missing,
        unread.unread_by_group
    from comparisons
    left join same_by_construction on comparisons.comparison_key = same_by_construction.comparison_key
    left join shared_subjects on comparisons.comparison_key = shared_subjects.comparison_key
    left join unread on comparisons.comparison_key = unread.comparison_key
)

select * from cautions
