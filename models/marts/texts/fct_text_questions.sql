with

comparisons as (
    select *
    from {{ ref("int_texts_comparisons") }}
    where outcome = 'similarity'
),

questions as (
    select *
    from {{ ref("int_texts_questions") }}
),

answers as (
    select
        contrast_id,
        answer_id,
        prompt_id,
        trial,
        question
    from {{ ref("int_texts_units") }}
),

text_questions as (
    select
        comparisons.contrast_id,
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        questions.*,
        (questions.similarity_marked + questions.similarity_reference) / 2
        - questions.similarity_between as similarity_gap,
        marked.question,
        marked.prompt_id as marked_prompt_id,
        marked.trial as marked_trial,
        reference.prompt_id as reference_prompt_id,
        reference.trial as reference_trial
    from questions
    inner join comparisons on questions.comparison_key = comparisons.comparison_key
    inner join answers as marked
        on
            comparisons.contrast_id = marked.contrast_id
            and questions.marked_answer_id = marked.answer_id
    inner join answers as reference
        on
            comparisons.contrast_id = reference.contrast_id
            and questions.reference_answer_id = reference.answer_id
)

{{ contracted("text_questions") }}
