{{ config(materialized="by_run") }}

with

answers as (
    select
        run_id,
        prompt_id,
        status,
        n,
        n_distinct_texts
    from {{ run_rows("int_answers_counts") }}
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

outcomes as (
    select
        run_id,
        prompt_id,
        sum(n_asked_again) as n_asked_again
    from {{ run_rows("int_answers_outcomes") }}
    group by run_id, prompt_id
),

asked_again as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(outcomes.n_asked_again) as n_asked_again
    from outcomes
    inner join prompt_groups
        on
            outcomes.run_id = prompt_groups.run_id
            and outcomes.prompt_id = prompt_groups.prompt_id
    group by prompt_groups.run_id, prompt_groups.mitigation, prompt_groups.attribute, prompt_groups.group_name
),

counted as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(answers.n) as n_answers,
        coalesce(sum(answers.n) filter (where answers.status = 'ok'), 0) as n_ok,
        coalesce(sum(answers.n) filter (where answers.status = 'unread'), 0) as n_unread,
        coalesce(sum(answers.n) filter (where answers.status = 'malformed'), 0) as n_malformed,
        coalesce(sum(answers.n) filter (where answers.status = 'refused'), 0) as n_refused,
        coalesce(sum(answers.n) filter (where answers.status = 'truncated'), 0) as n_truncated,
        coalesce(sum(answers.n) filter (where answers.status = 'error'), 0) as n_error,
        -- Texts of different prompts are different, because no two prompts are equal.
        coalesce(sum(answers.n_distinct_texts) filter (where answers.status = 'ok'), 0) as n_distinct_texts
    from answers
    inner join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
    group by prompt_groups.run_id, prompt_groups.mitigation, prompt_groups.attribute, prompt_groups.group_name
),

answer_quality as (
    select
        counted.*,
        coalesce(asked_again.n_asked_again, 0) as n_asked_again,
        counted.n_ok / counted.n_answers as share_ok,
        counted.n_refused / counted.n_answers as share_refused,
        counted.n_unread / counted.n_answers as share_unread
    from counted
    left join asked_again
        on
            counted.run_id = asked_again.run_id
            and counted.mitigation = asked_again.mitigation
            and counted.attribute = asked_again.attribute
            and counted.group_name = asked_again.group_name
)

{{ contracted("answer_quality") }}
