with

prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.variant,
        coalesce(prompts.domain, '') as domain,
        concat_ws(' | ', prompts.template, prompts.language, prompts.perturbation) as template
    from {{ ref("stg_ledger__prompts") }} as prompts
    inner join {{ ref("int_prices_runs") }} as prices_runs on prompts.run_id = prices_runs.run_id
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        carrier
    from {{ ref("stg_ledger__prompt_attributes") }}
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
        other_groups
    from {{ ref("int_prompt_groups") }}
    where slot = 1
),

components as (
    select
        prompt_attributes.run_id,
        prompt_attributes.prompt_id,
        run_attributes.attribute,
        run_attributes.kind,
        run_attributes.is_crossed,
        list(
            prompt_attributes.carrier
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) as carriers,
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
    group by
        prompt_attributes.run_id, prompt_attributes.prompt_id, run_attributes.attribute, run_attributes.kind,
        run_attributes.is_crossed
),

-- The word whose label moves. Of a pair it is the first one, and the second says which group the first one's label
-- makes it; a combination that two words state has no word whose label could move.
words as (
    select
        *,
        if(kind = 'same', carriers[1], array_to_string(list_distinct(carriers), ' | ')) as word,
        kind = 'same' or len(list_distinct(carriers)) = 1 as is_movable
    from components
),

-- What else the word states goes with it wherever it moves.
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
            and words.word = prompt_attributes.carrier
            and not list_contains(words.components, prompt_attributes.attribute)
    group by words.run_id, words.prompt_id, words.attribute
),

worded as (
    select
        prompts.*,
        prompt_groups.attribute,
        prompt_groups.group_name,
        words.kind,
        words.is_crossed,
        words.is_movable,
        words.word,
        if(words.kind = 'same', words.component_groups[1], prompt_groups.group_name) as label_group,
        if(words.kind = 'same', words.component_groups[2], '') as block_group,
        coalesce(own_groups.own_groups, '') as own_groups,
        coalesce(prompt_groups.other_groups, '') as other_groups
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
        variant,
        attribute,
        label_group,
        count(distinct word) as n_words
    from worded
    group by run_id, variant, attribute, label_group
),

unit_kinds as (
    select
        run_id,
        variant,
        attribute,
        if(max(n_words) = 1, 'words', 'carriers') as unit_kind
    from words_of_groups
    group by run_id, variant, attribute
),

-- A name moves with all its prompts; where a group is one word, the words of a template change places in it.
prices_prompts as (
    select
        worded.run_id,
        worded.prompt_id,
        worded.variant,
        worded.domain,
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
            when unit_kinds.unit_kind = 'words'
                then concat_ws(' | ', worded.template, worded.other_groups, worded.label_group)
            else concat_ws(' | ', worded.word, worded.own_groups, worded.label_group)
        end as unit,
        case
            when not worded.is_movable then concat_ws(' | ', worded.word, worded.own_groups, worded.label_group)
            when unit_kinds.unit_kind = 'words' then concat_ws(' | ', worded.template, worded.other_groups)
            else worded.own_groups
        end as stratum,
        if(unit_kinds.unit_kind = 'words', worded.template, worded.word) as cluster
    from worded
    inner join unit_kinds
        on
            worded.run_id = unit_kinds.run_id
            and worded.variant = unit_kinds.variant
            and worded.attribute = unit_kinds.attribute
)

select * from prices_prompts
