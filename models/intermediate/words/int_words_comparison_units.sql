{{ config(materialized="by_run") }}

with

contrasts as (
    select *
    from {{ run_rows("int_contrasts") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name,
        descriptors,
        coalesce(other_groups, '') as other_groups,
        stratum,
        block,
        person,
        paired_cluster,
        coalesce(is_by_turn, false) as is_by_turn
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

removed as (
    select
        run_id,
        word
    from {{ ref("int_words_run_words") }}
    where token is not null
),

counts as (
    select
        unit_key,
        run_id,
        word
    from {{ run_rows("int_words_counts") }}
),

-- Words become texts' sums before they meet texts: of a million texts there are hundreds of millions.
sums as (
    select
        counts.unit_key,
        count(*) filter (where removed.word is null) as n_left
    from counts
    left join removed
        on
            counts.run_id = removed.run_id
            and counts.word = removed.word
    group by counts.unit_key
),

units as (
    select
        words_units.unit_id,
        words_units.unit_key,
        words_units.run_id,
        words_units.mitigation,
        words_units.scheme,
        words_units.prompt_id,
        words_units.question,
        words_units.text_key,
        words_units.n_responses,
        words_units.first_seq
    from {{ run_rows("int_words_units") }} as words_units
    inner join sums on words_units.unit_key = sums.unit_key
    -- Answers without a single word left have nothing to compare. Words are removed in our own scheme alone.
    where
        words_units.scheme <> 'words'
        or sums.n_left > 0
),

labelled_units as (
    select
        contrasts.contrast_id,
        units.run_id,
        units.scheme,
        units.unit_id,
        units.unit_key,
        units.prompt_id,
        units.question,
        units.text_key,
        units.n_responses,
        units.first_seq,
        prompt_groups.group_name as unit_group,
        prompt_groups.descriptors,
        prompt_groups.other_groups,
        prompt_groups.stratum,
        prompt_groups.block,
        prompt_groups.person,
        prompt_groups.paired_cluster,
        prompt_groups.is_by_turn,
        prompt_groups.group_name = if(
            contrasts.comparison = 'all_groups', run_attributes.reference_group, contrasts.reference_group
        ) as is_reference
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
            and contrasts.mitigation = units.mitigation
            and prompt_groups.prompt_id = units.prompt_id
),

numbered_units as (
    select
        *,
        -- 0 for the reference group, then the others in the order of their names.
        cast(
            dense_rank() over (
                partition by contrast_id, scheme order by is_reference desc, unit_group asc
            ) - 1 as tinyint
        ) as label
    from labelled_units
),

-- How many questions a group was asked about the same other groups: subjects, templates, wordings, names.
asked as (
    select
        contrast_id,
        scheme,
        label,
        count(distinct prompt_id) as n_prompts,
        bool_or(is_by_turn) as is_by_turn
    from numbered_units
    group by contrast_id, scheme, label, other_groups
),

asked_of_labels as (
    select
        contrast_id,
        scheme,
        max(n_prompts) as n_prompts,
        bool_or(is_by_turn) as is_by_turn
    from asked
    group by contrast_id, scheme, label
),

asked_of_each as (
    select
        contrast_id,
        scheme,
        min(n_prompts) as n_prompts,
        bool_or(is_by_turn) as is_by_turn
    from asked_of_labels
    group by contrast_id, scheme
),

-- If every group was asked several questions, all answers to a question move together. With fewer than five questions a
-- finding can hold for these only: then answers move, as for a single question, unless they are turns of conversations.
words_comparison_units as (
    select
        numbered_units.*,
        asked_of_each.n_prompts >= 5 or asked_of_each.is_by_turn as moves_prompts,
        -- An answer that a prompt gets every time, as at temperature 0, is one observation.
        if(
            not moves_prompts and count(*) over each_prompt = 1,
            1,
            numbered_units.n_responses
        ) as n_trials
    from numbered_units
    inner join asked_of_each
        on
            numbered_units.contrast_id = asked_of_each.contrast_id
            and numbered_units.scheme = asked_of_each.scheme
    window
        each_prompt as (
            partition by
                numbered_units.contrast_id, numbered_units.scheme, numbered_units.label, numbered_units.stratum,
                numbered_units.prompt_id
        )
)

select * from words_comparison_units
