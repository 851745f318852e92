with

-- A typing error in a wording makes no other wording, and no name.
prompts as (
    select
        run_id,
        prompt_id
    from {{ ref("stg_ledger__prompts") }}
    where perturbation is null
),

prompt_groups as (
    select distinct
        groups_of_prompts.run_id,
        groups_of_prompts.attribute,
        groups_of_prompts.group_name,
        groups_of_prompts.carriers
    from {{ ref("int_prompt_groups") }} as groups_of_prompts
    inner join prompts
        on
            groups_of_prompts.run_id = prompts.run_id
            and groups_of_prompts.prompt_id = prompts.prompt_id
),

run_attributes as (
    select
        run_id,
        attribute,
        components
    from {{ ref("int_run_attributes") }}
),

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

declared_attributes as (
    select
        run_id,
        unnest(
            from_json(
                spec -> 'attributes',
                '[{"attribute": "VARCHAR", '
                || '"groups": [{"group": "VARCHAR", "carrier": "VARCHAR", "carriers": ["VARCHAR"]}]}]'
            ),
            recursive := false
        ) as declared
    from runs
),

declared_groups as (
    select
        run_id,
        declared.attribute,
        unnest(declared.groups, recursive := false) as declared_group
    from declared_attributes
),

-- What the audit itself says for a group: its label, and the wordings declared for it.
declared_texts as (
    select distinct
        run_id,
        attribute,
        lower(
            unnest([declared_group.group, declared_group.carrier] || coalesce(declared_group.carriers, []))
        ) as declared_text
    from declared_groups
),

prompt_attributes as (
    select distinct
        carriers_of_prompts.run_id,
        carriers_of_prompts.attribute,
        carriers_of_prompts.carrier
    from {{ ref("stg_ledger__prompt_attributes") }} as carriers_of_prompts
    inner join prompts
        on
            carriers_of_prompts.run_id = prompts.run_id
            and carriers_of_prompts.prompt_id = prompts.prompt_id
),

-- A carrier that the audit does not declare is a person's name, or what else a file says of a person.
named_attributes as (
    select
        prompt_attributes.run_id,
        prompt_attributes.attribute
    from prompt_attributes
    left join declared_texts
        on
            prompt_attributes.run_id = declared_texts.run_id
            and prompt_attributes.attribute = declared_texts.attribute
            and lower(prompt_attributes.carrier) = declared_texts.declared_text
    where prompt_attributes.carrier is not null
    group by prompt_attributes.run_id, prompt_attributes.attribute
    having count(*) filter (where declared_texts.declared_text is null) > 0
),

attributes as (
    select
        run_attributes.run_id,
        run_attributes.attribute,
        coalesce(bool_or(named_attributes.attribute is not null), false) as is_named
    from run_attributes
    left join named_attributes
        on
            run_attributes.run_id = named_attributes.run_id
            and list_contains(run_attributes.components, named_attributes.attribute)
    group by run_attributes.run_id, run_attributes.attribute
),

group_carriers as (
    select
        prompt_groups.run_id,
        prompt_groups.attribute,
        prompt_groups.group_name,
        any_value(attributes.is_named) as is_named,
        count(distinct prompt_groups.carriers) as n_carriers
    from prompt_groups
    inner join attributes
        on
            prompt_groups.run_id = attributes.run_id
            and prompt_groups.attribute = attributes.attribute
    group by prompt_groups.run_id, prompt_groups.attribute, prompt_groups.group_name
)

select * from group_carriers
