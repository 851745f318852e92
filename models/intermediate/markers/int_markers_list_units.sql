with

markers_prompts as (
    select *
    from {{ ref("int_markers_prompts") }}
),

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        n_words,
        n_white_space_tokens
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
        if(schemes.scheme = 'substring', texts.n_white_space_tokens, texts.n_words) as n
    from texts
    inner join schemes on texts.run_id = schemes.run_id
),

placed as (
    select
        markers_prompts.run_id,
        markers_prompts.variant,
        counts.scheme,
        markers_prompts.attribute,
        markers_prompts.group_name,
        markers_prompts.is_crossed,
        markers_prompts.unit_kind,
        markers_prompts.stratum,
        concat_ws(' | ', counts.prompt_id, counts.response_hash) as text_unit,
        coalesce(markers_prompts.name_unit, text_unit) as unit,
        if(markers_prompts.unit_kind = 'names', markers_prompts.name_cluster, text_unit) as cluster,
        counts.list,
        counts.n
    from markers_prompts
    inner join counts
        on
            markers_prompts.run_id = counts.run_id
            and markers_prompts.prompt_id = counts.prompt_id
),

units as (
    select
        * exclude (text_unit, n),
        sum(n) as n
    from placed
    group by all
)

select * from units
