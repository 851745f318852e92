-- Where the numbers come from: run and build, and hashes of the audit, of how it is read, and of what it is judged by.
with

builds as (
    select
        build_id,
        settings_hash,
        alpha,
        cast(seed as varchar) as seed
    from marts.fct_builds
    qualify row_number() over (order by built_at desc, build_id desc) = 1
)

select
    runs.audit,
    runs.target,
    runs.run_id,
    runs.spec_hash,
    runs.analysis_hash,
    runs.answer_rules_version,
    string_agg(distinct findings.engine_version, ', ' order by findings.engine_version) as engine_versions,
    count(distinct findings.threshold_hash) as n_threshold_rows,
    md5(string_agg(distinct findings.threshold_hash, ',' order by findings.threshold_hash)) as thresholds_digest,
    max(findings.n_permutations) as most_permutations,
    builds.build_id,
    builds.settings_hash,
    builds.alpha,
    builds.seed
from marts.dim_runs as runs
inner join marts.fct_findings as findings using (run_id)
left join builds on true
where list_contains($run_ids, runs.run_id)
group by all
order by runs.audit, runs.target, runs.run_id
