-- SNSR of each attribute, with what noise alone and the same question asked again give.
select
    findings.subject as domain,
    findings.attribute,
    findings.finding_id,
    findings.status,
    findings.value as snsr_debiased,
    findings.value_low,
    findings.value_high,
    findings.threshold,
    spread.snsr,
    spread.snsr_chance as snsr_by_noise,
    spread.snsr_noise_floor_high,
    spread.most_similar_group,
    spread.least_similar_group,
    findings.p_value_adjusted,
    findings.n_units as n_subjects
from marts.fct_findings as findings
inner join marts.fct_similarity_spread as spread
    on
        findings.contrast_id = spread.contrast_id
        and findings.scheme = spread.similarity_name
        and findings.subject = spread.domain
where
    spread.is_judged
    and spread.wording = 'clean'
    and findings.run_id = $run_id
    and findings.mitigation = 'plain'
    and findings.measure = 'snsr'
order by findings.subject, findings.value desc, findings.attribute
