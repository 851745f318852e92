{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

answers as (
    select
        run_id,
        model_answered,
        requested_at
    from {{ ref("int_answers") }}
    where
        status = 'ok'
        and model_answered is not null
),

models as (
    select
        run_id,
        model_answered,
        count(*) as n_answers,
        min(requested_at) as first_answered_at
    from answers
    group by run_id, model_answered
),

-- The commonest model is the reference, the next one names the finding.
changed_runs as (
    select
        run_id,
        arg_max(model_answered, (n_answers, model_answered)) as reference_model,
        arg_max(model_answered, (n_answers, model_answered), 2)[2] as other_model,
        sum(n_answers) as n_answers,
        max(n_answers) as n_reference_answers,
        string_agg(
            printf(
                '%s gave %d (the first on %s)',
                model_answered, n_answers, strftime(first_answered_at, '%Y-%m-%d at %H:%M UTC')
            ),
            ', ' order by n_answers desc, model_answered desc
        ) as answers_by_model
    from models
    group by run_id
    having count(*) > 1
),

run_analysis_settings as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_run_analysis_settings") }}
),

-- Counted and not estimated: no chance is in it, so both ends of its interval are the value, and p is 0, which takes no
-- other finding's share of alpha either.
run_findings as (
    select
        changed_runs.run_id,
        'plain' as mitigation,
        'model_change' as measure,
        'answers' as scheme,
        '(model)' as attribute,
        changed_runs.other_model as group_name,
        changed_runs.reference_model as reference_group,
        printf(
            'of %d answers %s: the run does not describe a single model',
            changed_runs.n_answers, changed_runs.answers_by_model
        ) as detail,
        run_analysis_settings.analysis_hash,
        cast(1 - changed_runs.n_reference_answers / changed_runs.n_answers as double) as value,
        cast(0 as double) as p_value,
        value as interval_low,
        value as interval_high,
        changed_runs.n_answers as n_units,
        0 as n_permutations,
        0 as seed
    from changed_runs
    inner join run_analysis_settings on changed_runs.run_id = run_analysis_settings.run_id
)

select * from run_findings
