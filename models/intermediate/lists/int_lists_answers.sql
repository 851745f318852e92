with

lists_runs as (
    select
        run_id,
        lists_key,
        unnest(schemes) as scheme
    from {{ ref("int_lists_runs") }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        response_hash,
        status
    from {{ ref("int_answers") }}
),

lists_answers as (
    select
        answers.run_id,
        lists_runs.lists_key,
        lists_runs.scheme,
        answers.prompt_id,
        answers.trial,
        answers.status,
        answers.response_hash,
        {{ integer_key_of(["answers.response_hash", "lists_runs.scheme"]) }} as list_key
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
)

select * from lists_answers
