with

-- A typing error in a wording makes no other wording, and no name.
prompts as (
    select
        run_id,
        prompt_id,
        language
    from {{ ref("stg_ledger__prompts") }}
    where perturbation is null
),

prompt_groups as (
    select distinct
        groups_of_prompts.run_id,
        groups_of_prompts.attribute,
        groups_of_prompts.group_name,
        prompts.language,
        if(groups_of_prompts.person = groups_of_prompts.cluster, groups_of_prompts.cluster, groups_of_prompts.subject)
            as person_name,
        groups_of_prompts.person is not null as is_person,
        groups_of_prompts.descriptors
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
        spec,
        parameters
    from {{ ref("stg_ledger__runs") }}
),

declared_attributes as (
    select
        run_id,
        unnest(
            from_json(
                spec -> 'attributes',
                '[{"attribute": "VARCHAR", '
                || '"groups": [{"group": "VARCHAR", "descriptor": "VARCHAR", "descriptors": ["VARCHAR"], '
                || '"wordings": "MAP(VARCHAR, VARCHAR)"}]}]'
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

-- Words that an import's file uses for groups: attribute -> word -> group; in long form, by its conditions.
imported_words as (
    select
        run_id,
        from_json(parameters -> 'values', '"MAP(VARCHAR, MAP(VARCHAR, VARCHAR))"') as words_of_attributes,
        from_json(
            parameters -> 'conditions', '"MAP(VARCHAR, STRUCT(attribute VARCHAR, \"values\" MAP(VARCHAR, JSON)))"'
        ) as conditions
    from runs
),

value_words as (
    select
        run_id,
        unnest(map_entries(words_of_attributes), recursive := false) as entry
    from imported_words
),

condition_words as (
    select
        run_id,
        unnest(map_entries(conditions), recursive := false) as entry
    from imported_words
),

-- Texts that the audit declares for a group: its label, its wordings in any language, and its words in a file.
declared_texts as (
    select
        run_id,
        attribute,
        lower(
            unnest(
                [declared_group.group, declared_group.descriptor]
                || coalesce(declared_group.descriptors, [])
                || coalesce(map_values(declared_group.wordings), [])
            )
        ) as declared_text
    from declared_groups
    union
    select
        run_id,
        entry.key as attribute,
        lower(unnest(map_keys(entry.value))) as declared_text
    from value_words
    union
    select
        run_id,
        coalesce(entry.value.attribute, entry.key) as attribute,
        lower(unnest(map_keys(entry.value.values))) as declared_text
    from condition_words
),

prompt_attributes as (
    select distinct
        descriptors_of_prompts.run_id,
        descriptors_of_prompts.attribute,
        descriptors_of_prompts.descriptor
    from {{ ref("stg_ledger__prompt_attributes") }} as descriptors_of_prompts
    inner join prompts
        on
            descriptors_of_prompts.run_id = prompts.run_id
            and descriptors_of_prompts.prompt_id = prompts.prompt_id
),

-- A descriptor that the audit does not declare is a person's name, or what else a file says of a person.
named_attributes as (
    select
        prompt_attributes.run_id,
        prompt_attributes.attribute
    from prompt_attributes
    left join declared_texts
        on
            prompt_attributes.run_id = declared_texts.run_id
            and prompt_attributes.attribute = declared_texts.attribute
            and lower(prompt_attributes.descriptor) = declared_texts.declared_text
    where prompt_attributes.descriptor is not null
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

-- A translation is no further wording: it is asked in other prompts, and of the same group.
language_descriptors as (
    select
        run_id,
        attribute,
        group_name,
        count(distinct descriptors) as n_descriptors
    from prompt_groups
    group by run_id, attribute, group_name, language
),

-- Subjects and clusters with one group are people, such as customers, without a name in the wording.
people as (
    select
        run_id,
        attribute,
        group_name,
        count(distinct person_name) as n_people
    from prompt_groups
    where is_person
    group by run_id, attribute, group_name
),

group_descriptors as (
    select
        language_descriptors.run_id,
        language_descriptors.attribute,
        language_descriptors.group_name,
        any_value(attributes.is_named) as is_named,
        max(language_descriptors.n_descriptors) as n_descriptors,
        any_value(people.n_people) as n_people
    from language_descriptors
    inner join attributes
        on
            language_descriptors.run_id = attributes.run_id
            and language_descriptors.attribute = attributes.attribute
    left join people
        on
            language_descriptors.run_id = people.run_id
            and language_descriptors.attribute = people.attribute
            and language_descriptors.group_name = people.group_name
    group by language_descriptors.run_id, language_descriptors.attribute, language_descriptors.group_name
)

select * from group_descriptors
