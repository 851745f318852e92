-- How much of the clean question's lists each other wording keeps, next to the same question asked again.
with

judged as (
    select
        finding_id,
        group_name as wording,
        scheme as similarity_name,
        subject as domain,
        status,
        threshold
    from marts.fct_findings
    where
        run_id = $run_id
        and mitigation = 'plain'
        and measure = 'robustness'
)

select
    robustness.domain,
    robustness.wording,
    judged.finding_id,
    judged.status,
    robustness.similarity_name,
    robustness.similarity,
    robustness.interval_low,
    robustness.interval_high,
    judged.threshold,
    robustness.rerun_similarity,
    robustness.p_value,
    robustness.n_subjects
from marts.fct_robustness as robustness
left join judged using (wording, similarity_name, domain)
where
    robustness.run_id = $run_id
    and robustness.mitigation = 'plain'
    and robustness.is_judged
    and robustness.attribute = '(all)'
order by robustness.domain, robustness.similarity, robustness.wording
