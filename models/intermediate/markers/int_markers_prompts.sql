{{ config(materialized="by_run") }}

with

prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.mitigation,
        prompts.template,
        prompts.language,
        prompts.perturbation,
        prompts.domain,
        prompts.subject
    from {{ run_rows("stg_ledger__prompts") }} as prompts
    inner join {{ ref("int_run_analysis_settings") }} as settings on prompts.run_id = settings.run_id
    where
        json_exists(settings.analysis, '$.markers')
        or prompts.run_id in (select judges.run_id from {{ ref("int_markers_judges") }} as judges)
),

contrasts as (
    select *
    from {{ run_rows("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Unknown groups are not compared.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        descriptor
    from {{ run_rows("stg_ledger__prompt_attributes") }}
    where slot = 1
),

run_attributes as (
    select
        run_id,
        attribute,
        components
    from {{ ref("int_run_attributes") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        coalesce(other_groups, '') as other_groups,
        stratum,
        block,
        has_pairs,
        person,
        paired_cluster
    from {{ run_rows("int_prompt_groups") }}
    where slot = 1
),

words as (
    select
        prompt_attributes.run_id,
        prompt_attributes.prompt_id,
        run_attributes.attribute,
        run_attributes.components,
        string_agg(
            distinct prompt_attributes.descriptor, ' | ' order by prompt_attributes.descriptor
        ) as word,
        count(distinct prompt_attributes.descriptor) as n_descriptors
    from prompt_attributes
    inner join run_attributes
        on
            prompt_attributes.run_id = run_attributes.run_id
            and list_contains(run_attributes.components, prompt_attributes.attribute)
    group by all
),

-- The other groups that a name states move with it.
own_groups as (
    select
        words.run_id,
        words.prompt_id,
        words.attribute,
        string_agg(
            prompt_attributes.attribute || '=' || prompt_attributes.group_name, '; '
            order by prompt_attributes.attribute
        ) as own_groups
    from words
    inner join prompt_attributes
        on
            words.run_id = prompt_attributes.run_id
            and words.prompt_id = prompt_attributes.prompt_id
            and words.word = prompt_attributes.descriptor
            and not list_contains(words.components, prompt_attributes.attribute)
    group by words.run_id, words.prompt_id, words.attribute
),

worded as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        prompt_groups.stratum,
        prompt_groups.paired_cluster,
        -- Groups are compared inside it.
        concat_ws(
            ' | ', prompts.template, prompts.language, prompts.perturbation, prompts.domain,
            if(prompt_groups.has_pairs, prompts.subject, null), 'block ' || prompt_groups.block
        ) as question,
        -- A customer, say, moves as a name does.
        if(prompt_groups.person is null, words.n_descriptors, 1) as n_descriptors,
        coalesce(prompt_groups.person, words.word, prompt_groups.group_name) as word,
        if(prompt_groups.person is null, coalesce(own_groups.own_groups, ''), prompt_groups.other_groups) as own_groups
    from prompts
    inner join prompt_groups
        on
            prompts.run_id = prompt_groups.run_id
            and prompts.prompt_id = prompt_groups.prompt_id
    inner join words
        on
            prompts.run_id = words.run_id
            and prompts.prompt_id = words.prompt_id
            and prompt_groups.attribute = words.attribute
    left join own_groups
        on
            prompts.run_id = own_groups.run_id
            and prompts.prompt_id = own_groups.prompt_id
            and prompt_groups.attribute = own_groups.attribute
),

words_of_groups as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        count(distinct word) as n_words
    from worded
    group by run_id, mitigation, attribute, group_name
),

unit_kinds as (
    select
        run_id,
        mitigation,
        attribute,
        if(max(n_words) > 1, 'names', 'answers') as unit_kind
    from words_of_groups
    group by run_id, mitigation, attribute
),

-- A name moves with all its texts; where a group is one word, each text moves inside the same question.
markers_prompts as (
    select
        contrasts.contrast_id,
        worded.run_id,
        worded.prompt_id,
        worded.group_name = contrasts.group_name as is_marked,
        worded.question,
        unit_kinds.unit_kind,
        if(
            unit_kinds.unit_kind = 'names', concat_ws(' | ', worded.word, worded.own_groups, worded.group_name), null
        ) as name_unit,
        if(unit_kinds.unit_kind = 'names', worded.own_groups, worded.stratum) as stratum,
        worded.word as name_cluster,
        worded.paired_cluster
    from worded
    inner join unit_kinds
        on
            worded.run_id = unit_kinds.run_id
            and worded.mitigation = unit_kinds.mitigation
            and worded.attribute = unit_kinds.attribute
    inner join contrasts
        on
            worded.run_id = contrasts.run_id
            and worded.mitigation = contrasts.mitigation
            and worded.attribute = contrasts.attribute
            and worded.group_name in (contrasts.group_name, contrasts.reference_group)
    -- A combination that several names state has no name whose label could move.
    where
        unit_kinds.unit_kind = 'answers'
        or worded.n_descriptors = 1
)

select * from markers_prompts
