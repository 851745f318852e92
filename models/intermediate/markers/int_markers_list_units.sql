{{ config(materialized="by_run") }}

with

markers_prompts as (
    select *
    from {{ run_rows("int_markers_prompts") }}
),

texts as (
    select
        answer_key,
        run_id,
        prompt_id,
        response_hash,
        text_key,
        n_answers,
        has_varied_answers
    from {{ run_rows("int_markers_texts") }}
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
        answer_key,
        scheme,
        list,
        n_hits as n
    from list_hits
    union all by name
    select
        texts.answer_key,
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
        texts.answer_key,
        texts.response_hash,
        texts.n_answers,
        texts.has_varied_answers,
        count(distinct markers_prompts.prompt_id) over (
            partition by markers_prompts.contrast_id, markers_prompts.is_marked
        ) as n_prompts
    from markers_prompts
    inner join texts
        on
            markers_prompts.run_id = texts.run_id
            and markers_prompts.prompt_id = texts.prompt_id
),

-- Where a group is one word and was asked several questions, a prompt moves with all its answers; where it was asked
-- one, each trial does.
texts_of_units as (
    select
        * replace (
            case
                when unit_kind = 'names' then 'names'
                when max(n_prompts) over (partition by contrast_id) > 1 then 'prompts'
                else 'answers'
            end as unit_kind
        )
    from texts_of_groups
),

-- Occurrences are held against tokens and cannot be moved to a mean as ratios are; weights give both groups each
-- question equally often, and a name still moves with all its texts.
weighted as (
    select
        *,
        {{ question_weight("contrast_id, question") }} as weight
    from texts_of_units
),

trials_of_texts as (
    select
        *,
        if(unit_kind = 'answers', {{ trials_of_text() }}, range(1)) as trials,
        unnest(trials) as trial
    from weighted
    where weight > 0
),

placed as (
    select
        trials_of_texts.contrast_id,
        trials_of_texts.run_id,
        counts.scheme,
        trials_of_texts.is_marked,
        trials_of_texts.unit_kind,
        trials_of_texts.stratum,
        concat_ws(' | ', trials_of_texts.prompt_id, trials_of_texts.response_hash, trials_of_texts.trial) as text_unit,
        case trials_of_texts.unit_kind
            when 'names' then trials_of_texts.name_unit
            when 'prompts' then trials_of_texts.prompt_id
            else text_unit
        end as unit,
        case trials_of_texts.unit_kind
            when 'names' then trials_of_texts.name_cluster
            when 'prompts' then trials_of_texts.stratum
            else text_unit
        end as cluster,
        counts.list,
        trials_of_texts.weight * trials_of_texts.n_answers / len(trials_of_texts.trials) * counts.n as n
    from trials_of_texts
    inner join counts on trials_of_texts.answer_key = counts.answer_key
),

units as (
    select
        * exclude (text_unit, n),
        sum(n order by text_unit) as n
    from placed
    group by all
)

select * from units
