{{ config(materialized="by_run") }}

with

decisions_runs as (
    select *
    from {{ run_rows("int_decisions_runs") }}
    where
        against is not null
        and kind in ('label', 'score')
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        template,
        coalesce(domain, '') as domain,
        coalesce(subject, '') as subject
    from {{ run_rows("stg_ledger__prompts") }}
),

-- Answers about any group, or about none.
answers as (
    select
        answers.run_id,
        prompts.mitigation,
        prompts.domain,
        -- The sampled units: subjects, or else templates.
        if(prompts.subject = '', prompts.template, prompts.subject) as cluster,
        answers.prompt_id,
        answers.trial,
        answers.weight,
        answers.status = 'unread' as is_unread,
        case
            when answers.status <> 'ok' then null
            when decisions_runs.kind = 'score' then try_cast(answers.answer_text as double)
            else cast(list_contains(decisions_runs.favourable_labels, answers.answer_text) as integer)
        end as outcome_value
    from {{ run_rows("int_answers") }} as answers
    inner join decisions_runs on answers.run_id = decisions_runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
),

units as (
    select
        run_id,
        mitigation,
        domain,
        cluster,
        coalesce(sum(weight) filter (where outcome_value is not null), 0) as n,
        coalesce(sum(weight * outcome_value order by prompt_id, trial), 0) as total,
        coalesce(sum(weight) filter (where is_unread), 0) as n_unread
    from answers
    group by run_id, mitigation, domain, cluster
),

compared as (
    select
        run_id,
        mitigation,
        domain,
        sum(n) as n_answers,
        sum(n_unread) as n_all_unread
    from units
    group by run_id, mitigation, domain
    having sum(n) > 0
),

counted as (
    select
        *,
        {{ permutations_for("10 * count(*) over (partition by run_id, mitigation)") }} as n_permutations
    from compared
),

fixed_units as (
    select
        {{ key_of(["counted.run_id", "counted.mitigation", "counted.domain"]) }} as comparison_key,
        counted.run_id,
        counted.mitigation,
        counted.domain,
        decisions_runs.kind,
        decisions_runs.against,
        if(decisions_runs.kind = 'label', 0, decisions_runs.lowest_score) as lowest,
        if(decisions_runs.kind = 'label', 1, decisions_runs.highest_score) as highest,
        counted.n_answers,
        counted.n_all_unread,
        counted.n_permutations,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed,
        units.cluster,
        units.n,
        units.total
    from counted
    inner join decisions_runs on counted.run_id = decisions_runs.run_id
    inner join units
        on
            counted.run_id = units.run_id
            and counted.mitigation = units.mitigation
            and counted.domain = units.domain
    where units.n > 0
)

select * from fixed_units
