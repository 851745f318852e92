{{ config(materialized="by_run") }}

with

markers_prompts as (
    select *
    from {{ run_rows("int_markers_prompts") }}
),

scores as (
    select *
    from {{ run_rows("int_markers_scores") }}
    where is_assessable
),

text_scores as (
    select *
    from {{ run_rows("int_markers_text_scores") }}
    where
        -- A classifier has too little to go by.
        not is_short
        and badness is not null
),

texts as (
    select *
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
),

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
),

-- A null list counts the tokens of a text.
counts as (
    select
        answer_key,
        scheme,
        list,
        n
    from {{ run_rows("int_markers_counts") }}
),

outcomes as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        'stereotype_ratio' as outcome,
        scheme,
        ratio as outcome_value,
        n_answers,
        has_varied_answers
    from scores
    union all by name
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        outcome,
        scheme,
        badness as outcome_value,
        n_answers,
        has_varied_answers
    from text_scores
    union all by name
    select
        texts.run_id,
        texts.prompt_id,
        texts.response_hash,
        '' as category,
        'list' as outcome,
        schemes.scheme,
        texts.answer_key,
        texts.n_answers,
        texts.has_varied_answers
    from texts
    inner join schemes on texts.run_id = schemes.run_id
),

texts_of_comparisons as (
    select
        outcomes.*,
        markers_prompts.contrast_id,
        markers_prompts.is_marked,
        markers_prompts.question,
        markers_prompts.unit_kind,
        markers_prompts.stratum,
        markers_prompts.name_unit,
        markers_prompts.name_cluster,
        markers_prompts.paired_cluster,
        {{ integer_key_of([
            "markers_prompts.contrast_id", "outcomes.outcome", "outcomes.scheme", "outcomes.category",
        ]) }} as units_key
    from markers_prompts
    inner join outcomes
        on
            markers_prompts.run_id = outcomes.run_id
            and markers_prompts.prompt_id = outcomes.prompt_id
),

texts_of_groups as (
    select
        *,
        count(distinct prompt_id) over (partition by units_key, is_marked) as n_prompts
    from texts_of_comparisons
),

shared_questions as (
    select
        units_key,
        question
    from texts_of_groups
    group by units_key, question
    having count(distinct is_marked) = 2
),

question_counts as (
    select
        units_key,
        count(*) as n_questions
    from shared_questions
    group by units_key
),

-- Where a group is one word and was asked several questions, a prompt moves with all its answers, which are alike for
-- what is written in it. Where it was asked one, each trial is an observation.
texts_of_units as (
    select
        texts_of_groups.* replace (
            case
                when texts_of_groups.unit_kind = 'names' then 'names'
                when max(texts_of_groups.n_prompts) over (partition by texts_of_groups.units_key) > 1 then 'prompts'
                else 'answers'
            end as unit_kind
        ),
        -- Names that were asked enough questions are judged by both units: a name with all its answers, and what was
        -- answered about it inside each question.
        texts_of_groups.unit_kind = 'names'
        and texts_of_groups.outcome <> 'list'
        and coalesce(question_counts.n_questions, 0) >= {{ questions_as_cases() }} as is_by_question
    from texts_of_groups
    left join question_counts on texts_of_groups.units_key = question_counts.units_key
),

trials_of_texts as (
    select
        *,
        if(unit_kind = 'answers', {{ trials_of_text() }}, range(1)) as trials,
        unnest(trials) as trial
    from texts_of_units
),

placed as (
    select
        * exclude (prompt_id, response_hash, name_cluster, paired_cluster, n_answers, trials, trial, n_prompts)
        replace (if(is_by_question, concat_ws(' | ', question, stratum), stratum) as stratum),
        concat_ws(' | ', prompt_id, response_hash, trial) as text_unit,
        case
            when is_by_question then concat_ws(' | ', name_unit, question)
            when unit_kind = 'names' then name_unit
            when paired_cluster is not null then concat_ws(' | ', paired_cluster, is_marked)
            when unit_kind = 'prompts' then prompt_id
            else text_unit
        end as unit,
        case
            when is_by_question then question
            when unit_kind = 'names' then name_cluster
            when paired_cluster is not null then paired_cluster
            when unit_kind = 'prompts' then stratum
            else text_unit
        end as cluster,
        -- Inside what a name moves.
        trials_of_texts.stratum as name_stratum,
        n_answers / len(trials) as n_answers
    from trials_of_texts
),

-- A name moves with texts about many questions, so that a group asked more often about one of them would differ
-- whatever is said of it. Weights give both groups each question equally often, and nothing where one of them never has
-- it: the gap is then the Mantel-Haenszel gap inside questions, and weights are 1 where questions are balanced. Prompts
-- and answers that are units of their own move inside their question anyhow, and so do names judged by question.
weighted as (
    select
        *,
        if(is_by_question, 1, {{ question_weight("units_key, question") }}) as weight
    from placed
),

question_means as (
    select
        units_key,
        question,
        sum(weight * n_answers order by text_unit) as weight,
        sum(weight * n_answers * outcome_value order by text_unit) as total
    from weighted
    where
        outcome <> 'list'
        and unit_kind = 'names'
        and not is_by_question
        and weight > 0
    group by units_key, question
),

-- Differences between questions are noise between names with different questions. With weights, both groups' questions
-- have the same mean, so that shifting each to the overall mean leaves the groups' means unchanged.
question_shifts as (
    select
        *,
        sum(total) over comparison / sum(weight) over comparison - total / weight as shift
    from question_means
    window
        comparison as (
            partition by units_key
            order by question
            rows between unbounded preceding and unbounded following
        )
),

units as (
    select
        weighted.units_key,
        weighted.run_id,
        weighted.contrast_id,
        weighted.outcome,
        weighted.scheme,
        weighted.category,
        weighted.is_marked,
        weighted.unit_kind,
        weighted.stratum,
        weighted.unit,
        weighted.cluster,
        if(weighted.is_by_question, weighted.name_unit, null) as name,
        if(weighted.is_by_question, weighted.name_stratum, null) as name_stratum,
        counts.list,
        sum(weighted.n_answers order by weighted.text_unit) as n_answers,
        sum(weighted.n_answers * weighted.outcome_value order by weighted.text_unit) as total_of_answers,
        sum(weighted.weight * weighted.n_answers * coalesce(counts.n, 1) order by weighted.text_unit) as n,
        sum(
            weighted.weight * weighted.n_answers * (weighted.outcome_value + coalesce(question_shifts.shift, 0))
            order by weighted.text_unit
        ) as total
    from weighted
    left join question_shifts
        on
            weighted.units_key = question_shifts.units_key
            and weighted.question = question_shifts.question
    left join counts
        on
            weighted.answer_key = counts.answer_key
            and weighted.scheme = counts.scheme
    where
        weighted.outcome <> 'list'
        or weighted.weight > 0
    group by all
)

select * from units
