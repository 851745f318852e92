-- How much was asked: templates, cases, names or words for groups, prompts about groups and in all, and answers.
select
    groups.run_id,
    count(distinct groups.template) as n_templates,
    count(distinct groups.subject) as n_cases,
    count(distinct groups.descriptor) as n_descriptors,
    count(distinct groups.prompt_id) as n_about,
    any_value(runs.noun_case) as noun_case,
    any_value(runs.noun_cases) as noun_cases,
    max(runs.n_prompts) as n_prompts,
    max(runs.n_responses) as n_answers
from marts.dim_prompt_groups as groups
inner join marts.dim_runs as runs using (run_id)
where list_contains($run_ids, groups.run_id)
group by groups.run_id
