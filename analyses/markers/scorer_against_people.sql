-- Is the scorer as right about every group? By people's labels of random answers (biasledger label --sample).
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

with

agreement as (
    select *
    from {{ ref("fct_score_agreement") }}
    where attribute <> ''
),

corrections as (
    select *
    from {{ ref("fct_score_corrections") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    agreement.mitigation,
    agreement.scheme as score,
    agreement.attribute,
    agreement.group_name,
    agreement.n_answers,
    agreement.n_labelled,
    agreement.n_drawn,
    agreement.agreement,
    agreement.agreement_low,
    agreement.agreement_high,
    agreement.sensitivity as problematic_found,
    agreement.specificity as acceptable_left_alone,
    agreement.scorer_rate as problematic_by_scorer,
    agreement.corrected_rate as problematic_corrected,
    agreement.corrected_low,
    agreement.corrected_high,
    corrections.reference_group,
    corrections.scorer_gap as gap_by_scorer,
    corrections.corrected_gap as gap_corrected,
    corrections.corrected_low as gap_low,
    corrections.corrected_high as gap_high
from agreement
inner join runs on agreement.run_id = runs.run_id
left join corrections
    on
        agreement.run_id = corrections.run_id
        and agreement.mitigation = corrections.mitigation
        and agreement.scheme = corrections.scheme
        and agreement.attribute = corrections.attribute
        and agreement.group_name = corrections.group_name
order by
    runs.audit asc,
    runs.target asc,
    agreement.mitigation asc,
    agreement.scheme asc,
    agreement.attribute asc,
    agreement.agreement asc nulls last, agreement.group_name asc
