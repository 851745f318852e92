{{ config(materialized="by_run") }}

with

runs as (
    select run_id
    from {{ run_rows("stg_ledger__runs") }}
),

-- Published keys rest on the fingerprint, which each engine computes alike.
answers as (
    select
        run_id,
        sum({{ integer_key_of(["prompt_id", "trial", "response_hash", "status"]) }}) as fingerprint
    from {{ run_rows("int_answers") }}
    group by run_id
),

run_answers as (
    select
        runs.run_id,
        answers.run_id is not null as has_answers,
        answers.fingerprint
    from runs
    left join answers on runs.run_id = answers.run_id
)

select * from run_answers
