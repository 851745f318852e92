with

decisions_runs as (
    select run_id
    from {{ ref("int_decisions_runs") }}
    where kind in ('label', 'score')
),

-- Each row of such a file names a group of every attribute, or says that it names none.
runs_of_people as (
    select run_id
    from {{ ref("stg_ledger__runs") }}
    where
        origin = 'imported'
        and not json_exists(parameters, '$.columns.attribute')
),

run_attributes as (
    select
        run_id,
        attribute,
        components
    from {{ ref("int_run_attributes") }}
    where kind <> 'same'
),

prompts as (
    select
        run_id,
        prompt_id,
        variant,
        coalesce(domain, '') as domain
    from {{ ref("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        attribute,
        {{ is_unknown_group("group_name") }} as is_unknown_group
    from {{ ref("stg_ledger__prompt_attributes") }}
),

-- Count every applicant, whether or not the answer was read.
answers as (
    select
        run_id,
        prompt_id,
        weight
    from {{ ref("int_answers") }}
),

pairings as (
    select distinct
        run_id,
        variant,
        attribute,
        is_paired
    from {{ ref("int_decisions_people") }}
),

stated_groups as (
    select
        run_attributes.run_id,
        prompt_attributes.prompt_id,
        run_attributes.attribute,
        count(distinct prompt_attributes.attribute) as n_stated,
        bool_or(prompt_attributes.is_unknown_group) as has_unknown_group
    from run_attributes
    inner join prompt_attributes
        on
            run_attributes.run_id = prompt_attributes.run_id
            and list_contains(run_attributes.components, prompt_attributes.attribute)
    group by run_attributes.run_id, prompt_attributes.prompt_id, run_attributes.attribute
),

people as (
    select
        answers.run_id,
        prompts.variant,
        if(coalesce(pairings.is_paired, false), '', prompts.domain) as domain,
        run_attributes.attribute,
        answers.weight,
        coalesce(stated_groups.n_stated, 0) < len(run_attributes.components)
        and runs_of_people.run_id is not null as is_not_stated,
        coalesce(stated_groups.has_unknown_group, false) as is_unknown
    from answers
    inner join decisions_runs on answers.run_id = decisions_runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    inner join run_attributes on answers.run_id = run_attributes.run_id
    left join runs_of_people on answers.run_id = runs_of_people.run_id
    left join pairings
        on
            answers.run_id = pairings.run_id
            and prompts.variant = pairings.variant
            and run_attributes.attribute = pairings.attribute
    left join stated_groups
        on
            answers.run_id = stated_groups.run_id
            and answers.prompt_id = stated_groups.prompt_id
            and run_attributes.attribute = stated_groups.attribute
),

people_of_no_group as (
    select
        run_id,
        variant,
        domain,
        attribute,
        '' as group_name,
        if(is_not_stated, 'the group is not stated', 'the group is unknown') as reason,
        sum(weight) as n_people
    from people
    where is_not_stated or is_unknown
    group by run_id, variant, domain, attribute, is_not_stated
),

people_of_excluded_groups as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        excluded_reason as reason,
        n_people
    from {{ ref("int_decisions_categories") }}
    where
        outcome = 'selected'
        and excluded_reason <> 'the group is unknown'
),

decisions_left_out as (
    select * from people_of_no_group
    union all by name
    select * from people_of_excluded_groups
)

{{ contracted("decisions_left_out") }}
