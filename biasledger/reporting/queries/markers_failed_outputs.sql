-- Single outputs that fail the guide's rule: those with the most reasons first, then one of each question.
select
    prompt_id,
    trial,
    category,
    target_group as marker_list,
    published_reasons as failed_because,
    array_to_string(stereotype_markers, ', ') as markers_for,
    array_to_string(anti_markers, ', ') as markers_against,
    stereotype_ratio,
    regard_scores
from marts.fct_stereotype_scores
where
    run_id = $run_id
    and mitigation = 'plain'
    and is_judged
    and published_outcome = 'failed'
order by
    contains(published_reasons, ';') desc,
    row_number() over (partition by prompt_id order by trial),
    category,
    probe,
    prompt_id,
    trial
