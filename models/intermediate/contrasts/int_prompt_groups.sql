{{ config(materialized="by_run") }}

with

prompts as (
    select
        run_id,
        prompt_id,
        template,
        language,
        perturbation,
        mitigation,
        subject
    from {{ run_rows("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name,
        descriptor
    from {{ run_rows("stg_ledger__prompt_attributes") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        components,
        kind
    from {{ ref("int_run_attributes") }}
),

grouped_attributes as (
    select
        prompt_attributes.run_id,
        prompt_attributes.prompt_id,
        prompt_attributes.slot,
        run_attributes.attribute,
        run_attributes.kind,
        list(
            prompt_attributes.group_name
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) filter (where list_contains(run_attributes.components, prompt_attributes.attribute)) as component_groups,
        string_agg(
            prompt_attributes.descriptor, ''
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) filter (where list_contains(run_attributes.components, prompt_attributes.attribute)) as descriptors,
        string_agg(
            prompt_attributes.attribute || '=' || prompt_attributes.group_name, '; '
            order by prompt_attributes.attribute
        ) filter (where not list_contains(run_attributes.components, prompt_attributes.attribute)) as other_groups
    from prompt_attributes
    inner join run_attributes on prompt_attributes.run_id = run_attributes.run_id
    group by
        prompt_attributes.run_id, prompt_attributes.prompt_id, prompt_attributes.slot, run_attributes.attribute,
        run_attributes.components, run_attributes.kind
    having
        count(*) filter (where list_contains(run_attributes.components, prompt_attributes.attribute))
        = len(run_attributes.components)
),

prompt_groups as (
    select
        grouped_attributes.run_id,
        grouped_attributes.prompt_id,
        grouped_attributes.slot,
        grouped_attributes.attribute,
        grouped_attributes.kind,
        prompts.mitigation,
        case grouped_attributes.kind
            when 'same' then if(len(list_distinct(grouped_attributes.component_groups)) = 1, 'same', 'different')
            else array_to_string(grouped_attributes.component_groups, '*')
        end as group_name,
        grouped_attributes.descriptors,
        grouped_attributes.other_groups,
        -- The stratum that labels must not leave in a permutation: the template and every other attribute.
        concat_ws(
            ' | ',
            prompts.template,
            prompts.language, prompts.perturbation, prompts.subject, grouped_attributes.other_groups
        ) as stratum
    from grouped_attributes
    inner join prompts
        on
            grouped_attributes.run_id = prompts.run_id
            and grouped_attributes.prompt_id = prompts.prompt_id
)

select * from prompt_groups
