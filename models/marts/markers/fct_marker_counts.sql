{{ config(materialized="by_run") }}

with

texts as (
    select
        answer_key,
        run_id,
        prompt_id,
        markers_hash,
        mitigation,
        text_key,
        n_answers
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
),

schemes as (
    select
        run_id,
        scheme,
        is_judged
    from {{ ref("int_markers_schemes") }}
),

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

lists as (
    select distinct
        markers_hash,
        list
    from {{ ref("stg_ledger__markers") }}
),

list_hits as (
    select *
    from {{ ref("int_markers_list_hits") }}
),

lengths as (
    select *
    from {{ ref("int_markers_lengths") }}
),

-- All texts, and those about each group.
texts_of_groups as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from texts
    union all by name
    select
        texts.*,
        prompt_groups.attribute,
        prompt_groups.group_name
    from texts
    inner join prompt_groups
        on
            texts.run_id = prompt_groups.run_id
            and texts.prompt_id = prompt_groups.prompt_id
),

counted as (
    select
        texts_of_groups.run_id,
        texts_of_groups.mitigation,
        schemes.scheme,
        schemes.is_judged,
        texts_of_groups.attribute,
        texts_of_groups.group_name,
        lists.list,
        count(*) as n_texts,
        count(list_hits.n_hits) as n_texts_with,
        -- Over answers: a text that was given twice holds its words twice.
        coalesce(sum(texts_of_groups.n_answers * list_hits.n_hits), 0) as n_hits,
        coalesce(sum(texts_of_groups.n_answers * lengths.n_tokens), 0) as n_tokens
    from texts_of_groups
    inner join schemes on texts_of_groups.run_id = schemes.run_id
    inner join lists on texts_of_groups.markers_hash = lists.markers_hash
    left join list_hits
        on
            texts_of_groups.answer_key = list_hits.answer_key
            and schemes.scheme = list_hits.scheme
            and lists.list = list_hits.list
    left join lengths
        on
            texts_of_groups.text_key = lengths.text_key
            and {{ cut_of("schemes.scheme") }} = lengths.cut
    group by
        texts_of_groups.run_id, texts_of_groups.mitigation, schemes.scheme, schemes.is_judged,
        texts_of_groups.attribute, texts_of_groups.group_name, lists.list
),

marker_counts as (
    select
        *,
        1000 * n_hits / nullif(n_tokens, 0) as hits_per_thousand
    from counted
)

{{ contracted("marker_counts") }}
