{{ config(materialized="by_run") }}

with

texts as (
    select
        answer_key,
        run_id,
        prompt_id,
        markers_hash,
        mitigation,
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

counts as (
    select *
    from {{ run_rows("int_markers_counts") }}
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
        count(counts.n) as n_texts_with,
        -- Over answers: a text that was given twice holds its words twice.
        coalesce(sum(texts_of_groups.n_answers * counts.n), 0) as n_hits,
        coalesce(sum(texts_of_groups.n_answers * tokens.n), 0) as n_tokens
    from texts_of_groups
    inner join schemes on texts_of_groups.run_id = schemes.run_id
    inner join lists on texts_of_groups.markers_hash = lists.markers_hash
    left join counts
        on
            texts_of_groups.answer_key = counts.answer_key
            and schemes.scheme = counts.scheme
            and lists.list = counts.list
    left join counts as tokens
        on
            texts_of_groups.answer_key = tokens.answer_key
            and schemes.scheme = tokens.scheme
            and tokens.list is null
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
