with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        comparison,
        group_name,
        reference_group
    from {{ ref("int_contrasts") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        carriers,
        stratum
    from {{ ref("int_prompt_groups") }}
    -- Texts about several persons are read as texts about the first.
    where slot = 1
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group
    from {{ ref("int_run_attributes") }}
),

-- Answers without a single word left have nothing to compare.
worded_units as (
    select distinct unit_id
    from {{ ref("int_words_features") }}
),

units as (
    select
        words_units.unit_id,
        words_units.unit_key,
        words_units.run_id,
        words_units.variant,
        words_units.scheme,
        words_units.prompt_id,
        words_units.text_key,
        words_units.n_responses,
        words_units.first_seq
    from {{ ref("int_words_units") }} as words_units
    inner join worded_units on words_units.unit_id = worded_units.unit_id
),

labelled_units as (
    select
        contrasts.run_id,
        contrasts.variant,
        units.scheme,
        contrasts.attribute,
        contrasts.comparison,
        contrasts.group_name,
        contrasts.reference_group,
        units.unit_id,
        units.unit_key,
        units.text_key,
        units.n_responses,
        units.first_seq,
        prompt_groups.group_name as unit_group,
        prompt_groups.carriers,
        prompt_groups.stratum,
        case
            when contrasts.comparison = 'all_groups' then prompt_groups.group_name = run_attributes.reference_group
            else prompt_groups.group_name = contrasts.reference_group
        end as is_reference
    from contrasts
    inner join run_attributes
        on
            contrasts.run_id = run_attributes.run_id
            and contrasts.attribute = run_attributes.attribute
    inner join prompt_groups
        on
            contrasts.run_id = prompt_groups.run_id
            and contrasts.attribute = prompt_groups.attribute
            and (
                contrasts.comparison = 'all_groups'
                or prompt_groups.group_name in (contrasts.group_name, contrasts.reference_group)
            )
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.variant = units.variant
            and prompt_groups.prompt_id = units.prompt_id
),

words_comparison_units as (
    select
        *,
        -- 0 for the reference group, then the others in the order of their names.
        cast(
            dense_rank() over (
                partition by run_id, variant, scheme, attribute, comparison, group_name, reference_group
                order by is_reference desc, unit_group asc
            ) - 1 as tinyint
        ) as label
    from labelled_units
)

select * from words_comparison_units
