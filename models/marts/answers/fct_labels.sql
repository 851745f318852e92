with

labels as (
    select *
    from {{ ref("int_answers_labels") }}
),

labelled as (
    select distinct
        run_id,
        prompt_id,
        trial
    from labels
),

-- The last attempt at a trial is its answer. Few of many answers are labelled, so that the others are left out first.
responses as (
    select
        responses.run_id,
        responses.prompt_id,
        responses.trial,
        responses.response_hash,
        responses.response_text is null as is_erased
    from {{ ref("stg_ledger__responses") }} as responses
    inner join labelled
        on
            responses.run_id = labelled.run_id
            and responses.prompt_id = labelled.prompt_id
            and responses.trial = labelled.trial
    qualify
        row_number() over (
            partition by responses.run_id, responses.prompt_id, responses.trial order by responses.attempt desc
        ) = 1
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ ref("stg_ledger__prompts") }}
),

described as (
    select
        labels.*,
        prompts.mitigation,
        responses.response_hash,
        responses.is_erased,
        count(*) over (partition by labels.run_id, labels.prompt_id, labels.trial, labels.rubric) as n_people,
        min(labels.label) over (partition by labels.run_id, labels.prompt_id, labels.trial, labels.rubric)
        < max(labels.label) over (
            partition by labels.run_id, labels.prompt_id, labels.trial, labels.rubric
        ) as is_contested
    from labels
    inner join prompts
        on
            labels.run_id = prompts.run_id
            and labels.prompt_id = prompts.prompt_id
    inner join responses
        on
            labels.run_id = responses.run_id
            and labels.prompt_id = responses.prompt_id
            and labels.trial = responses.trial
)

{{ contracted("described") }}
