{{ config(materialized="by_run") }}

with

contrasts as (
    select *
    from {{ run_rows("int_answers_contrasts") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        slot,
        mitigation,
        attribute,
        group_name,
        descriptors,
        other_groups,
        cluster,
        block,
        has_pairs,
        person,
        paired_cluster
    from {{ run_rows("int_prompt_groups") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        coalesce(template, '') as template,
        coalesce(language, '') as language,
        coalesce(perturbation, '') as perturbation,
        coalesce(domain, '') as domain,
        coalesce(subject, '') as subject
    from {{ run_rows("stg_ledger__prompts") }}
),

neutral_prompts as (
    select
        prompt_id,
        coalesce(language, '') as language,
        coalesce(perturbation, '') as perturbation,
        coalesce(domain, '') as domain,
        coalesce(subject, '') as subject,
        block,
        cluster as paired_cluster,
        {{ question_key() }} as question_key
    from {{ run_rows("int_answers_neutral_prompts") }}
),

outcomes as (
    select
        run_id,
        prompt_id,
        sum(n_asked) as n_asked,
        sum(n) as n,
        sum(n_refused) as n_refused,
        sum(n_unusable) as n_unusable,
        sum(n_failed) as n_failed,
        sum(n_first_of_several) as n_first_of_several,
        -- The trials are needed if trials move singly.
        string_agg(concat_ws(':', trial, n, n_refused, n_unusable, n_failed), ' ' order by trial) as trials
    from {{ run_rows("int_answers_outcomes") }}
    group by run_id, prompt_id
),

about as (
    select
        run_id,
        prompt_id,
        mitigation,
        attribute,
        list(distinct group_name order by group_name) as group_names,
        count(distinct slot) as n_slots,
        -- A prompt that names several people has no single name.
        case when count(distinct slot) = 1 then any_value(descriptors) end as descriptor,
        coalesce(string_agg(distinct other_groups, ' / ' order by other_groups), '') as other_groups,
        any_value(cluster) as cluster,
        any_value(block) as block,
        any_value(has_pairs) as has_pairs,
        any_value(person) as person,
        any_value(paired_cluster) as paired_cluster
    from prompt_groups
    group by run_id, prompt_id, mitigation, attribute
),

-- An answer about several people is refused for all of them: it speaks of a group only where the other one of the
-- contrast is not among them.
labelled as (
    select
        contrasts.*,
        about.prompt_id,
        about.descriptor,
        about.other_groups,
        about.group_names,
        about.n_slots,
        about.block,
        -- Neutral answers are compared with answers about the same subject, customer or conversation.
        about.has_pairs or contrasts.reference_group = '(neutral)' as has_pairs,
        if(contrasts.reference_group = '(neutral)', null, about.person) as person,
        if(contrasts.reference_group = '(neutral)', about.cluster, about.paired_cluster) as paired_cluster,
        case
            when
                list_contains(about.group_names, contrasts.group_name)
                and not list_contains(about.group_names, contrasts.reference_group)
                and (left(contrasts.reference_group, 1) <> '(' or len(about.group_names) = 1)
                then 1
            when list_contains(about.group_names, contrasts.group_name) then null
            when
                contrasts.reference_group = '(others)'
                or list_contains(about.group_names, contrasts.reference_group)
                then 0
        end as label
    from contrasts
    inner join about
        on
            contrasts.run_id = about.run_id
            and contrasts.mitigation = about.mitigation
            and contrasts.attribute = about.attribute
),

-- Who else is among several people is a part of the question.
named as (
    select
        * exclude (group_names, n_slots)
        replace (
            concat_ws(
                ' / ',
                other_groups,
                case
                    when n_slots > 1 and reference_group <> '(others)'
                        then nullif(
                            array_to_string(
                                list_filter(group_names, lambda one: one not in (group_name, reference_group)), ' / '
                            ), ''
                        )
                end
            ) as other_groups
        )
    from labelled
    where
        label is not null
        and (reference_group <> '(neutral)' or other_groups = '')
),

of_groups as (
    select
        named.*,
        -- A neutral prompt has another template, and no other group.
        if(named.reference_group = '(neutral)', '', prompts.template) as template,
        prompts.language,
        prompts.perturbation,
        prompts.domain,
        prompts.subject
    from named
    inner join prompts
        on
            named.run_id = prompts.run_id
            and named.prompt_id = prompts.prompt_id
),

asked as (
    select distinct
        contrast_id,
        {{ question_key() }} as question_key
    from of_groups
    where
        reference_group = '(neutral)'
        and label = 1
),

-- Neutral prompts are compared only with the same questions about a group.
of_neutral as (
    select
        contrasts.*,
        neutral_prompts.prompt_id,
        neutral_prompts.language,
        neutral_prompts.perturbation,
        neutral_prompts.domain,
        neutral_prompts.subject,
        neutral_prompts.block,
        true as has_pairs,
        cast(null as varchar) as person,
        neutral_prompts.paired_cluster,
        cast(null as varchar) as descriptor,
        '' as other_groups,
        0 as label,
        '' as template
    from asked
    inner join contrasts on asked.contrast_id = contrasts.contrast_id
    inner join neutral_prompts on asked.question_key = neutral_prompts.question_key
),

compared as (
    select * from of_groups
    union all by name
    select * from of_neutral
),

gap_prompts as (
    select
        compared.*,
        outcomes.n_asked,
        outcomes.n,
        outcomes.n_refused,
        outcomes.n_unusable,
        outcomes.n_failed,
        outcomes.n_first_of_several,
        outcomes.trials
    from compared
    inner join outcomes
        on
            compared.run_id = outcomes.run_id
            and compared.prompt_id = outcomes.prompt_id
)

select * from gap_prompts
