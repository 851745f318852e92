-- Sim_p of each personality, and PAFS over them.
select
    fairness.domain,
    findings.finding_id,
    similarities.group_name,
    similarities.similarity,
    similarities.similarity_sd,
    similarities.interval_low,
    similarities.interval_high,
    fairness.pafs,
    fairness.pafs_debiased,
    fairness.interval_low as pafs_low,
    fairness.interval_high as pafs_high,
    fairness.p_value,
    fairness.n_subjects
from marts.fct_personality_fairness as fairness
inner join marts.fct_findings as findings
    on
        fairness.contrast_id = findings.contrast_id
        and fairness.similarity_name = findings.scheme
        and fairness.domain = findings.subject
        and findings.measure = 'personality_fairness'
inner join marts.fct_group_similarity as similarities
    on
        fairness.list_set_id = similarities.list_set_id
        and fairness.neutral = similarities.neutral
        and fairness.similarity_name = similarities.similarity_name
where
    fairness.run_id = $run_id
    and fairness.mitigation = 'plain'
    and fairness.is_personality
    -- The judged scheme of the audit.
    and fairness.pafs_debiased is not null
    and fairness.wording = 'clean'
    and similarities.is_judged_neutral
    and similarities.similarity is not null
order by fairness.domain, similarities.similarity desc, similarities.group_name
