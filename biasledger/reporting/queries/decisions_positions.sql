-- How often the candidate shown first, second, … is put first.
select
    position,
    share_top,
    expected_share,
    mean_rank,
    n_people,
    chi_square_p_value
from marts.fct_position_bias
where
    run_id = $run_id
    and mitigation = 'plain'
order by position
