with

answers as (
    select *
    from {{ ref("int_texts_answers") }}
    -- A text with only identity terms has no words to compare.
    where words <> ''
),

contrasts as (
    select *
    from {{ ref("int_answers_contrasts") }}
    where reference_group not in ('(neutral)', '(others)')
),

gap_units as (
    select *
    from {{ ref("int_answers_gap_units") }}
),

joined as (
    select
        contrasts.*,
        gap_units.prompt_id,
        gap_units.label,
        gap_units.stratum as question,
        gap_units.name_stratum,
        gap_units.name,
        gap_units.sampled,
        gap_units.whole,
        answers.trial,
        answers.conversation,
        answers.weight,
        answers.words,
        answers.text_key,
        answers.vector_key,
        -- A prompt whose answers are all equal says no more of a mean for having been asked again.
        min(answers.response_hash) over of_prompt = max(answers.response_hash) over of_prompt as is_constant,
        row_number() over (of_prompt order by answers.trial) > 1 as is_further,
        min(gap_units.prompt_id) over of_question = max(gap_units.prompt_id) over of_question as is_only_prompt
    from contrasts
    inner join gap_units on contrasts.contrast_id = gap_units.contrast_id
    inner join answers
        on
            contrasts.run_id = answers.run_id
            and gap_units.prompt_id = answers.prompt_id
    window
        of_prompt as (partition by gap_units.contrast_id, gap_units.prompt_id),
        of_question as (partition by gap_units.contrast_id, gap_units.stratum, gap_units.label)
),

prompt_counts as (
    select
        contrast_id,
        least(
            count(distinct prompt_id) filter (where label = 1), count(distinct prompt_id) filter (where label = 0)
        ) as n_prompts
    from joined
    group by contrast_id
),

-- If every prompt always got the same answer (temperature 0), repeats add no information. Decide this for the whole
-- contrast: deciding per prompt would depend on the answers.
settled as (
    select
        *,
        concat_ws(' | ', prompt_id, conversation) as answer,
        bool_and(is_constant) over (partition by contrast_id) as is_settled
    from joined
),

placed as (
    select
        joined.*,
        joined.is_settled and joined.is_further as is_repeated,
        -- Answers to one prompt are alike for its wording, and so are those to one customer. They are a floor only
        -- where a group has no other.
        case
            when joined.whole is not null then concat_ws(' | ', joined.question, joined.label, joined.whole)
            when not bool_and(joined.is_only_prompt) over (partition by joined.contrast_id, joined.question)
                then joined.prompt_id
            else if(joined.is_settled, joined.prompt_id, joined.answer)
        end as unit,
        if(prompt_counts.n_prompts >= 5 or joined.is_constant, joined.prompt_id, joined.answer) as gap_unit,
        bool_or(joined.name is null) over (partition by joined.contrast_id) as is_unnamed
    from settled as joined
    inner join prompt_counts on joined.contrast_id = prompt_counts.contrast_id
),

texts_units as (
    select
        * exclude (answer, is_constant, is_further, is_settled, is_only_prompt, is_unnamed),
        {{ code_in_contrast("prompt_id, trial") }} as answer_id,
        {{ code_in_contrast("question") }} as question_id,
        {{ code_in_contrast("unit") }} as unit_id,
        if(is_unnamed, -1, {{ code_in_contrast("label, name_stratum, name") }}) as name_id,
        {{ code_in_contrast("name_stratum") }} as name_stratum_id
    from placed
)

select * from texts_units
