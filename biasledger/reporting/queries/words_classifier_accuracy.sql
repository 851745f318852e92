-- How well a classifier tells groups apart, next to what it reaches when labels are shuffled.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme,
        status,
        threshold
    from marts.fct_findings
    where measure = 'classifier_accuracy'
)

select
    classifier_accuracy.attribute,
    classifier_accuracy.comparison,
    classifier_accuracy.group_name,
    classifier_accuracy.reference_group,
    judged.finding_id,
    judged.status,
    classifier_accuracy.beyond_chance,
    classifier_accuracy.interval_low,
    classifier_accuracy.interval_high,
    -- Accuracy that shuffled labels reach counts as guessing, also where templates are unevenly shared out.
    if(
        classifier_accuracy.comparison = 'all_groups',
        classifier_accuracy.null_mean,
        least(classifier_accuracy.null_mean, 0.5)
    ) as guessing,
    guessing - 1.96 * classifier_accuracy.null_sd as null_low,
    guessing + 1.96 * classifier_accuracy.null_sd as null_high,
    judged.threshold,
    classifier_accuracy.p_value,
    classifier_accuracy.n_marked_units,
    classifier_accuracy.n_reference_units
from marts.fct_classifier_accuracy as classifier_accuracy
left join judged using (contrast_id, scheme)
where
    classifier_accuracy.run_id = $run_id
    and classifier_accuracy.mitigation = 'plain'
    and classifier_accuracy.p_value is not null
order by
    classifier_accuracy.attribute like '%*%',
    classifier_accuracy.attribute,
    classifier_accuracy.comparison = 'all_groups',
    classifier_accuracy.beyond_chance desc,
    classifier_accuracy.group_name,
    classifier_accuracy.reference_group
