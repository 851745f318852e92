{{ config(materialized="by_run") }}

with

responses as (
    select
        * exclude (
            status, has_list, n_items, is_crossed, unanswered, shortfall, repeated, precision_at_k, recall_at_k, ndcg
        ),
        -- If a question was asked more than once, the published code keeps only the last list.
        scheme <> 'reference'
        or row_number() over (
            partition by list_set_id, subject_key, template, language, group_name
            order by seq desc, prompt_id asc, trial desc
        ) = 1 as is_included,
        count(*) over (partition by run_id, mitigation, scheme, question_key) as n_reruns
    from {{ run_rows("int_lists_responses") }}
    where has_list
),

lists_runs as (
    select
        run_id,
        main_language,
        neutral as judged_neutral
    from {{ run_rows("int_lists_runs") }}
),

neutral_languages as (
    select distinct
        run_id,
        mitigation,
        language
    from responses
    where is_neutral
),

conditioned as (
    select
        responses.*,
        lists_runs.judged_neutral,
        coalesce(neutral_languages.language, lists_runs.main_language) as neutral_language
    from responses
    inner join lists_runs on responses.run_id = lists_runs.run_id
    left join neutral_languages
        on
            responses.run_id = neutral_languages.run_id
            and responses.mitigation = neutral_languages.mitigation
            and responses.language = neutral_languages.language
    where responses.attribute is not null
),

-- Against the matched neutral prompt and those that are always asked, in the same language, or in the audit's first
-- language where that one has none.
against_neutral as (
    select
        'neutral' as role,
        conditioned.* replace (conditioned.is_included and neutral.is_included as is_included),
        neutral.prompt_id as other_prompt_id,
        neutral.trial as other_trial,
        neutral.list_key as other_list_key,
        neutral.template as neutral,
        case
            when conditioned.judged_neutral = 'matched'
                then coalesce(conditioned.matched_neutral = neutral.template, true)
            else conditioned.judged_neutral = neutral.template
        end as is_judged_neutral
    from conditioned
    inner join responses as neutral
        on
            conditioned.subject_key = neutral.subject_key
            and conditioned.mitigation = neutral.mitigation
            and conditioned.scheme = neutral.scheme
    where
        neutral.is_neutral
        and conditioned.neutral_language = neutral.language
        and (neutral.is_core or neutral.template = conditioned.matched_neutral)
),

-- The same question asked again, in both directions.
reruns as (
    select
        'rerun' as role,
        responses.* replace (true as is_included),
        again.prompt_id as other_prompt_id,
        again.trial as other_trial,
        again.list_key as other_list_key
    from responses
    inner join responses as again
        on
            responses.run_id = again.run_id
            and responses.mitigation = again.mitigation
            and responses.scheme = again.scheme
            and responses.question_key = again.question_key
    where responses.prompt_id <> again.prompt_id or responses.trial <> again.trial
),

-- The same question worded otherwise against its clean wording. A hint in place of a descriptor is another question.
against_clean as (
    select
        'clean' as role,
        worded.* replace (worded.is_included and clean.is_included as is_included),
        clean.prompt_id as other_prompt_id,
        clean.trial as other_trial,
        clean.list_key as other_list_key
    from conditioned as worded
    inner join conditioned as clean
        on
            worded.subject_key = clean.subject_key
            and worded.mitigation = clean.mitigation
            and worded.scheme = clean.scheme
    where
        worded.wording not in ('clean', 'indirect')
        and clean.wording = 'clean'
        and worded.attribute = clean.attribute
        and worded.group_name = clean.group_name
),

pairs as (
    select * from against_neutral
    union all by name
    select * from reruns
    union all by name
    select * from against_clean
)

select * exclude (seq, matched_neutral, is_core, language, judged_neutral, neutral_language)
from pairs
