{%- set runs = new_runs(ref("int_words_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_words_runs") }}

with

words_runs as (
    select
        run_id,
        run_state
    from {{ ref("int_words_runs") }}
    where {{ is_of_runs("run_id", runs) }}
),

words as (
    select distinct
        run_id,
        word
    from {{ ref("int_words_counts") }}
    where {{ is_of_runs("run_id", runs) }}
),

run_words as (
    select
        words_runs.run_id,
        words_runs.run_state,
        words.word
    from words
    inner join words_runs on words.run_id = words_runs.run_id
)

select * from run_words
