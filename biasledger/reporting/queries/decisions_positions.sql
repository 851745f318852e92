-- How often the candidate shown first, second, … is put first.
select
    positions.position,
    findings.finding_id,
    positions.share_top,
    positions.expected_share,
    positions.mean_rank,
    positions.n_people,
    positions.chi_square_p_value
from marts.fct_position_bias as positions
left join marts.fct_findings as findings
    on
        positions.run_id = findings.run_id
        and positions.mitigation = findings.mitigation
        and findings.measure = 'position_bias'
where
    positions.run_id = $run_id
    and positions.mitigation = 'plain'
order by positions.position
