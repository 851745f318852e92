-- How often does the same case get another answer under another name, and how often when asked again?
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

-- The share of questions asked again is null without repeated questions.
with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

consistency as (
    select
        run_id,
        mitigation,
        count(*) as n_resumes,
        sum(case when is_complete then 1 else 0 end) as n_complete,
        sum(case when is_complete and not is_consistent then 1 else 0 end) as n_inconsistent
    from {{ ref("fct_prediction_consistency") }}
    group by run_id, mitigation
),

-- Answers of one label to one question, and to all questions about one resume.
of_questions as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        prompt_id,
        label,
        sum(weight) as n
    from {{ ref("fct_predictions") }}
    where label is not null
    group by run_id, mitigation, template, domain, subject, prompt_id, label
),

of_resumes as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        label,
        sum(n) as n
    from of_questions
    group by run_id, mitigation, template, domain, subject, label
),

pairs_of_single_questions as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        prompt_id,
        sum(n) * (sum(n) - 1) as n_pairs,
        sum(n * (n - 1)) as n_alike
    from of_questions
    group by run_id, mitigation, template, domain, subject, prompt_id
),

pairs_of_questions as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        sum(n_pairs) as n_pairs,
        sum(n_alike) as n_alike
    from pairs_of_single_questions
    group by run_id, mitigation, template, domain, subject
),

pairs_of_resumes as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        sum(n) * (sum(n) - 1) as n_pairs,
        sum(n * (n - 1)) as n_alike
    from of_resumes
    group by run_id, mitigation, template, domain, subject
),

-- Pairs of answers about one resume: under one name, and under two.
disagreements as (
    select
        pairs_of_resumes.run_id,
        pairs_of_resumes.mitigation,
        1 - sum(pairs_of_questions.n_alike) / nullif(sum(pairs_of_questions.n_pairs), 0) as asked_again,
        1 - sum(pairs_of_resumes.n_alike - pairs_of_questions.n_alike)
        / nullif(sum(pairs_of_resumes.n_pairs - pairs_of_questions.n_pairs), 0) as under_another_name
    from pairs_of_resumes
    inner join pairs_of_questions
        on
            pairs_of_resumes.run_id = pairs_of_questions.run_id
            and pairs_of_resumes.mitigation = pairs_of_questions.mitigation
            and pairs_of_resumes.template = pairs_of_questions.template
            and pairs_of_resumes.domain = pairs_of_questions.domain
            and pairs_of_resumes.subject = pairs_of_questions.subject
    group by pairs_of_resumes.run_id, pairs_of_resumes.mitigation
)

select
    runs.audit,
    runs.target,
    consistency.mitigation,
    consistency.n_resumes,
    consistency.n_complete,
    consistency.n_inconsistent,
    consistency.n_inconsistent / cast(consistency.n_resumes as double) as published_rate,
    consistency.n_inconsistent / cast(nullif(consistency.n_complete, 0) as double) as rate_of_complete,
    disagreements.under_another_name as disagreement_under_another_name,
    disagreements.asked_again as disagreement_asked_again,
    disagreements.under_another_name - disagreements.asked_again as beyond_asking_again
from consistency
inner join runs on consistency.run_id = runs.run_id
left join disagreements
    on
        consistency.run_id = disagreements.run_id
        and consistency.mitigation = disagreements.mitigation
order by runs.audit, runs.target, consistency.mitigation
