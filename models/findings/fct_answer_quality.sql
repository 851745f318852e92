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
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(n_answers as bigint) as n_answers,
        cast(n_ok as bigint) as n_ok,
        cast(n_malformed as bigint) as n_malformed,
        cast(n_refused as bigint) as n_refused,
        cast(n_truncated as bigint) as n_truncated,
        cast(n_error as bigint) as n_error,
        cast(n_distinct_texts as bigint) as n_distinct_texts,
        cast(n_ok / n_answers as double) as share_ok,
        cast(n_refused / n_answers as double) as share_refused
    from counted
)

select * from answer_quality
