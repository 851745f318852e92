{{ config(materialized="by_run") }}

with

-- A question with a typing error is asked for its own sake.
prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.mitigation,
        prompts.template,
        coalesce(prompts.domain, '') as domain,
        prompts.language,
        prompts.domain as stated_domain,
        prompts.subject
    from {{ run_rows("stg_ledger__prompts") }} as prompts
    inner join {{ ref("int_prices_runs") }} as prices_runs on prompts.run_id = prices_runs.run_id
    where prompts.perturbation is null
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
        components,
        kind,
        is_crossed
    from {{ ref("int_run_attributes") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        coalesce(other_groups, '') as other_groups,
        block,
        has_pairs,
        person,
        paired_cluster
    from {{ run_rows("int_prompt_groups") }}
    where slot = 1
),

-- Two attributes go together where one word states both in every prompt, as a name states race and gender.
pairs_of_attributes as (
    select
        one.run_id,
        one.attribute,
        other.attribute as other_attribute,
        bool_and(one.descriptor = other.descriptor) as is_one_word
    from prompt_attributes as one
    inner join prompt_attributes as other
        on
            one.run_id = other.run_id
            and one.prompt_id = other.prompt_id
    group by one.run_id, one.attribute, other.attribute
),

-- The label of a combination moves only if one word states all of it. In a pair the first word's label moves, and the
-- second decides the group.
movable_attributes as (
    select
        run_attributes.run_id,
        run_attributes.attribute,
        bool_and(run_attributes.kind = 'same' or pairs_of_attributes.is_one_word) as is_movable
    from run_attributes
    inner join pairs_of_attributes
        on
            run_attributes.run_id = pairs_of_attributes.run_id
            and run_attributes.components[1] = pairs_of_attributes.attribute
            and list_contains(run_attributes.components, pairs_of_attributes.other_attribute)
    group by run_attributes.run_id, run_attributes.attribute
),

components as (
    select
        prompt_attributes.run_id,
        prompt_attributes.prompt_id,
        run_attributes.attribute,
        run_attributes.kind,
        run_attributes.is_crossed,
        movable_attributes.is_movable,
        list(
            prompt_attributes.descriptor
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) as descriptors,
        list(
            prompt_attributes.group_name
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) as component_groups,
        any_value(run_attributes.components) as components
    from prompt_attributes
    inner join run_attributes
        on
            prompt_attributes.run_id = run_attributes.run_id
            and list_contains(run_attributes.components, prompt_attributes.attribute)
    inner join movable_attributes
        on
            run_attributes.run_id = movable_attributes.run_id
            and run_attributes.attribute = movable_attributes.attribute
    group by
        prompt_attributes.run_id, prompt_attributes.prompt_id, run_attributes.attribute, run_attributes.kind,
        run_attributes.is_crossed, movable_attributes.is_movable
),

-- The other groups that the word states move with it.
own_groups as (
    select
        components.run_id,
        components.prompt_id,
        components.attribute,
        string_agg(
            prompt_attributes.attribute || '=' || prompt_attributes.group_name, '; '
            order by prompt_attributes.attribute
        ) as own_groups
    from components
    inner join pairs_of_attributes
        on
            components.run_id = pairs_of_attributes.run_id
            and components.components[1] = pairs_of_attributes.attribute
    inner join prompt_attributes
        on
            components.run_id = prompt_attributes.run_id
            and components.prompt_id = prompt_attributes.prompt_id
            and pairs_of_attributes.other_attribute = prompt_attributes.attribute
    where
        pairs_of_attributes.is_one_word
        and not list_contains(components.components, pairs_of_attributes.other_attribute)
    group by components.run_id, components.prompt_id, components.attribute
),

worded as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.mitigation,
        prompts.template,
        prompts.domain,
        concat_ws(
            ' | ', prompts.template, prompts.language, prompts.stated_domain,
            if(prompt_groups.has_pairs, prompts.subject, null), 'block ' || prompt_groups.block
        ) as question,
        prompt_groups.attribute,
        prompt_groups.group_name,
        prompt_groups.block,
        prompt_groups.paired_cluster,
        components.kind,
        components.is_crossed,
        components.is_movable,
        -- A customer, say, moves as a name does.
        coalesce(if(components.kind = 'same', null, prompt_groups.person), components.descriptors[1]) as word,
        array_to_string(components.descriptors, ' | ') as words,
        if(components.kind = 'same', components.component_groups[1], prompt_groups.group_name) as label_group,
        if(components.kind = 'same', components.component_groups[2], '') as block_group,
        if(
            prompt_groups.person is null, coalesce(own_groups.own_groups, ''), prompt_groups.other_groups
        ) as own_groups
    from prompts
    inner join prompt_groups
        on
            prompts.run_id = prompt_groups.run_id
            and prompts.prompt_id = prompt_groups.prompt_id
    inner join components
        on
            prompts.run_id = components.run_id
            and prompts.prompt_id = components.prompt_id
            and prompt_groups.attribute = components.attribute
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
        label_group,
        count(distinct word) as n_words
    from worded
    group by run_id, mitigation, attribute, label_group
),

unit_kinds as (
    select
        run_id,
        mitigation,
        attribute,
        if(max(n_words) = 1, 'words', 'descriptors') as unit_kind
    from words_of_groups
    group by run_id, mitigation, attribute
),

-- A name moves with all its prompts; where a group is one word, the words of a template change places in it.
prices_prompts as (
    select
        worded.run_id,
        worded.prompt_id,
        worded.mitigation,
        worded.domain,
        worded.question,
        worded.attribute,
        worded.group_name,
        worded.word,
        worded.kind,
        worded.is_crossed,
        worded.is_movable,
        worded.label_group,
        worded.block_group,
        unit_kinds.unit_kind,
        case
            when not worded.is_movable then worded.words
            when unit_kinds.unit_kind = 'words'
                then concat_ws(
                    ' | ', worded.template, 'block ' || worded.block, worded.label_group, worded.paired_cluster
                )
            else concat_ws(' | ', worded.word, worded.own_groups, worded.label_group)
        end as unit,
        case
            when not worded.is_movable then worded.words
            when unit_kinds.unit_kind = 'words' then concat_ws(' | ', worded.template, 'block ' || worded.block)
            else worded.own_groups
        end as stratum,
        case
            when worded.is_movable and unit_kinds.unit_kind = 'words'
                then coalesce(worded.paired_cluster, worded.template)
            else worded.word
        end as cluster
    from worded
    inner join unit_kinds
        on
            worded.run_id = unit_kinds.run_id
            and worded.mitigation = unit_kinds.mitigation
            and worded.attribute = unit_kinds.attribute
)

select * from prices_prompts
