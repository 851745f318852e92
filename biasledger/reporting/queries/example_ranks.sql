-- What each answer decided: the higher its rank value, the better for the person; and whether it is right.
select
    prompt_id,
    trial,
    rank_value,
    coalesce(is_correct, false) as is_correct
from marts.fct_predictions
where
    run_id = $run_id
    and mitigation = 'plain'
    and rank_value is not null
