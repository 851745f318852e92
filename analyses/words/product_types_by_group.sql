-- Which product types does each group get? Keys of JSON answers, where an audit reads `keys`.
{{ config(enabled='words' in env_var('BIASLEDGER_METHODS', 'words')) }}

with

marked_keys as (
    select *
    from {{ ref("fct_marked_words") }}
    where
        scheme = 'keys'
        and is_marked
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
)

select
    runs.audit,
    runs.target,
    marked_keys.mitigation,
    marked_keys.attribute,
    if(marked_keys.z_score > 0, marked_keys.group_name, marked_keys.reference_group) as group_name,
    if(marked_keys.z_score > 0, marked_keys.reference_group, marked_keys.group_name) as compared_with,
    marked_keys.word as product_type,
    if(marked_keys.z_score > 0, marked_keys.n_group_uses, marked_keys.n_reference_uses) as n_answers,
    if(marked_keys.z_score > 0, marked_keys.n_reference_uses, marked_keys.n_group_uses) as n_answers_of_the_other,
    marked_keys.p_value_adjusted as p_adjusted
from marked_keys
inner join runs on marked_keys.run_id = runs.run_id
order by
    runs.audit, runs.target, marked_keys.mitigation, marked_keys.attribute, group_name, compared_with, p_adjusted,
    product_type
