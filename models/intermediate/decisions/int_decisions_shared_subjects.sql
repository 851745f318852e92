with

-- Subjects asked about in either group, in comparisons of different people.
comparisons as (
    select
        comparison_key,
        run_id,
        mitigation,
        attribute,
        domain,
        group_name,
        reference_group
    from {{ ref("int_decisions_comparisons") }}
    where not is_paired
),

prompts as (
    select
        run_id,
        prompt_id,
        coalesce(domain, '') as domain,
        subject
    from {{ ref("stg_ledger__prompts") }}
    where coalesce(subject, '') <> ''
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

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
    where prompt_groups.group_name in (comparisons.group_name, comparisons.reference_group)
    group by comparisons.comparison_key, prompts.subject
),

shared_subjects as (
    select
        comparison_key,
        avg(cast(n_groups = 2 as integer)) as share_shared
    from asked_subjects
    group by comparison_key
)

select * from shared_subjects
