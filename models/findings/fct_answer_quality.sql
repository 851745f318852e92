with

answers as (
    select
        run_id,
        prompt_id,
        status,
        weight,
        response_hash
    from {{ ref("int_answers") }}
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        variant,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

counted as (
    select
        prompt_groups.run_id,
        prompt_groups.variant,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(answers.weight) as n_answers,
        coalesce(sum(answers.weight) filter (where answers.status = 'ok'), 0) as n_ok,
        coalesce(sum(answers.weight) filter (where answers.status = 'malformed'), 0) as n_malformed,
        coalesce(sum(answers.weight) filter (where answers.status = 'refused'), 0) as n_refused,
        coalesce(sum(answers.weight) filter (where answers.status = 'truncated'), 0) as n_truncated,
        coalesce(sum(answers.weight) filter (where answers.status = 'error'), 0) as n_error,
        count(distinct answers.response_hash) filter (where answers.status = 'ok') as n_distinct_texts
    from answers
    inner join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
    group by prompt_groups.run_id, prompt_groups.variant, prompt_groups.attribute, prompt_groups.group_name
),

answer_quality as (
    select
        *,
        n_ok / n_answers as share_ok,
        n_refused / n_answers as share_refused
    from counted
)

{{ contracted("answer_quality") }}
