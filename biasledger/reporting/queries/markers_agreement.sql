-- How far a scorer agrees with people's labels of answers drawn at random, and its rates corrected by these.
with

differences as (
    select
        run_id,
        mitigation,
        scheme,
        attribute,
        group_name,
        reference_group,
        scorer_gap,
        corrected_gap,
        corrected_low,
        corrected_high
    from marts.fct_score_corrections
)

select
    agreement.scorer,
    agreement.label,
    agreement.attribute,
    agreement.group_name,
    agreement.n_answers,
    agreement.n_drawn,
    agreement.n_problematic + agreement.n_acceptable as n_agreed,
    agreement.agreement,
    agreement.agreement_low,
    agreement.agreement_high,
    agreement.sensitivity,
    agreement.specificity,
    agreement.scorer_rate,
    agreement.corrected_rate,
    agreement.corrected_low as corrected_rate_low,
    agreement.corrected_high as corrected_rate_high,
    differences.reference_group,
    differences.scorer_gap,
    differences.corrected_gap,
    differences.corrected_low as corrected_gap_low,
    differences.corrected_high as corrected_gap_high
from marts.fct_score_agreement as agreement
left join differences using (run_id, mitigation, scheme, attribute, group_name)
where
    agreement.run_id = $run_id
    and agreement.mitigation = 'plain'
    and agreement.attribute <> ''
qualify
    sum(agreement.n_drawn) over (partition by agreement.scheme, agreement.attribute) > 0
    and count(differences.reference_group) over (partition by agreement.scheme, agreement.attribute) > 0
order by
    agreement.attribute like '%*%', agreement.attribute, agreement.scheme, differences.reference_group nulls first,
    differences.scorer_gap desc, agreement.group_name
