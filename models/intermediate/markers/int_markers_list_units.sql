with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name as marked_group,
        reference_group
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Whose group nobody knows stands for no group.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

markers_prompts as (
    select *
    from {{ ref("int_markers_prompts") }}
),

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        text_key
    from {{ ref("int_markers_texts") }}
    where markers_hash is not null
),

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
),

list_hits as (
    select *
    from {{ ref("int_markers_list_hits") }}
),

lengths as (
    select *
    from {{ ref("int_markers_lengths") }}
),

-- A null list counts the tokens of the unit.
counts as (
    select
        run_id,
        prompt_id,
        response_hash,
        scheme,
        list,
        n_hits as n
    from list_hits
    union all by name
    select
        texts.run_id,
        texts.prompt_id,
        texts.response_hash,
        schemes.scheme,
        cast(null as varchar) as list,
        coalesce(lengths.n_tokens, 0) as n
    from texts
    inner join schemes on texts.run_id = schemes.run_id
    left join lengths
        on
            texts.text_key = lengths.text_key
            and {{ cut_of("schemes.scheme") }} = lengths.cut
),

texts_of_groups as (
    select
        markers_prompts.*,
        contrasts.marked_group,
        contrasts.reference_group,
        texts.response_hash
    from markers_prompts
    inner join texts
        on
            markers_prompts.run_id = texts.run_id
            and markers_prompts.prompt_id = texts.prompt_id
    inner join contrasts
        on
            markers_prompts.run_id = contrasts.run_id
            and markers_prompts.variant = contrasts.variant
            and markers_prompts.attribute = contrasts.attribute
            and markers_prompts.group_name in (contrasts.marked_group, contrasts.reference_group)
),

-- Occurrences are held against tokens and cannot be moved to a mean as ratios are; weights give both groups each
-- question equally often, and a name still moves with all its texts.
weighted as (
    select
        *,
        {{ question_weight("group_name = marked_group", "group_name = reference_group", [
            "run_id", "variant", "attribute", "marked_group", "reference_group", "question",
        ]) }} as weight
    from texts_of_groups
),

placed as (
    select
        weighted.run_id,
        weighted.variant,
        counts.scheme,
        weighted.attribute,
        weighted.marked_group,
        weighted.reference_group,
        weighted.group_name,
        weighted.is_crossed,
        weighted.unit_kind,
        weighted.stratum,
        concat_ws(' | ', counts.prompt_id, counts.response_hash) as text_unit,
        coalesce(weighted.name_unit, text_unit) as unit,
        if(weighted.unit_kind = 'names', weighted.name_cluster, text_unit) as cluster,
        counts.list,
        weighted.weight * counts.n as n
    from weighted
    inner join counts
        on
            weighted.run_id = counts.run_id
            and weighted.prompt_id = counts.prompt_id
            and weighted.response_hash = counts.response_hash
    where weighted.weight > 0
),

units as (
    select
        * exclude (text_unit, n),
        sum(n order by text_unit) as n
    from placed
    group by all
)

select * from units
