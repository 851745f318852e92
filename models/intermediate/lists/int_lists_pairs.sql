with

responses as (
    select
        *,
        -- Where a question was asked more than once, the published code keeps the last list alone.
        scheme <> 'reference'
        or row_number() over (
            partition by
                run_id, scheme, variant, domain, subject, template, language, wording, attribute, group_name
            order by seq desc, prompt_id asc, trial desc
        ) = 1 as is_kept
    from {{ ref("int_lists_responses") }}
    where has_list
),

lists_runs as (
    select
        run_id,
        main_language,
        neutral
    from {{ ref("int_lists_runs") }}
),

neutral_languages as (
    select distinct
        run_id,
        variant,
        language
    from responses
    where is_neutral
),

conditioned as (
    select
        responses.*,
        lists_runs.neutral,
        coalesce(neutral_languages.language, lists_runs.main_language) as neutral_language
    from responses
    inner join lists_runs on responses.run_id = lists_runs.run_id
    left join neutral_languages
        on
            responses.run_id = neutral_languages.run_id
            and responses.variant = neutral_languages.variant
            and responses.language = neutral_languages.language
    where responses.attribute is not null
),

-- Against the matched neutral prompt and those that are always asked, in the same language, or in the audit's first
-- language where that one has none.
against_neutral as (
    select
        'neutral' as role,
        conditioned.run_id,
        conditioned.lists_key,
        conditioned.scheme,
        conditioned.k,
        conditioned.prompt_id,
        conditioned.trial,
        conditioned.list_key,
        neutral.prompt_id as other_prompt_id,
        neutral.trial as other_trial,
        neutral.list_key as other_list_key,
        conditioned.is_kept and neutral.is_kept as is_kept,
        neutral.template as neutral,
        case
            when conditioned.neutral = 'matched'
                then coalesce(conditioned.matched_neutral = neutral.template, true)
            else conditioned.neutral = neutral.template
        end as is_judged_neutral
    from conditioned
    inner join responses as neutral
        on
            conditioned.run_id = neutral.run_id
            and conditioned.scheme = neutral.scheme
            and conditioned.variant = neutral.variant
            and conditioned.domain = neutral.domain
            and conditioned.subject is not distinct from neutral.subject
            and conditioned.neutral_language = neutral.language
    where
        neutral.is_neutral
        and (neutral.is_core or neutral.template = conditioned.matched_neutral)
),

-- The same question asked again, in both directions.
reruns as (
    select
        'rerun' as role,
        responses.run_id,
        responses.lists_key,
        responses.scheme,
        responses.k,
        responses.prompt_id,
        responses.trial,
        responses.list_key,
        again.prompt_id as other_prompt_id,
        again.trial as other_trial,
        again.list_key as other_list_key,
        true as is_kept
    from responses
    inner join responses as again
        on
            responses.run_id = again.run_id
            and responses.scheme = again.scheme
            and responses.variant = again.variant
            and responses.question_key = again.question_key
            and (responses.prompt_id <> again.prompt_id or responses.trial <> again.trial)
),

-- The same question worded otherwise against its clean wording. A hint in place of a descriptor is another question.
against_clean as (
    select
        'clean' as role,
        worded.run_id,
        worded.lists_key,
        worded.scheme,
        worded.k,
        worded.prompt_id,
        worded.trial,
        worded.list_key,
        clean.prompt_id as other_prompt_id,
        clean.trial as other_trial,
        clean.list_key as other_list_key,
        worded.is_kept and clean.is_kept as is_kept
    from conditioned as worded
    inner join conditioned as clean
        on
            worded.run_id = clean.run_id
            and worded.scheme = clean.scheme
            and worded.variant = clean.variant
            and worded.domain = clean.domain
            and worded.subject is not distinct from clean.subject
            and worded.attribute = clean.attribute
            and worded.group_name = clean.group_name
    where
        worded.wording not in ('clean', 'indirect')
        and clean.wording = 'clean'
),

pairs as (
    select * from against_neutral
    union all by name
    select * from reruns
    union all by name
    select * from against_clean
)

select * from pairs
