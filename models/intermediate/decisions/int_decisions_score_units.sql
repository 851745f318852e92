with

decisions_runs as (
    select
        run_id,
        highest_score,
        scale,
        has_currency
    from {{ ref("int_decisions_runs") }}
    where kind = 'score'
),

score_counts as (
    select
        run_id,
        mitigation,
        score,
        ln(if(score > 0, score, null)) as log_score,
        sum(weight) as n
    from {{ ref("int_decisions_predictions") }}
    where score is not null
    group by run_id, mitigation, score
),

score_means as (
    select
        run_id,
        mitigation,
        sum(n * score order by score) / sum(n) as mean_score
    from score_counts
    group by run_id, mitigation
),

-- Scores have no common unit: their gaps are judged in standard deviations of the run's scores.
score_spreads as (
    select
        score_counts.run_id,
        score_counts.mitigation,
        count(*) = 1 as are_equal,
        case
            when count(*) > 1
                then sqrt(
                    sum(
                        score_counts.n * pow(score_counts.score - score_means.mean_score, 2)
                        order by score_counts.score
                    )
                    -- Different scores weigh 2 at least, but for the fractions that older ledgers may hold.
                    / greatest(sum(score_counts.n) - 1, 1)
                )
        end as score_sd
    from score_counts
    inner join score_means
        on
            score_counts.run_id = score_means.run_id
            and score_counts.mitigation = score_means.mitigation
    group by score_counts.run_id, score_counts.mitigation
),

run_means as (
    select
        run_id,
        count(distinct score) as n_scores,
        min(score) as lowest_read_score,
        sum(n) as n,
        sum(n * score order by score, mitigation) / sum(n) as mean_score,
        sum(n * log_score order by score, mitigation) / sum(n) as mean_log
    from score_counts
    group by run_id
),

-- Twice the difference of the log-likelihoods of a log-normal and of a normal distribution (Box & Cox 1964).
run_spreads as (
    select
        run_means.run_id,
        run_means.n_scores,
        run_means.lowest_read_score,
        case
            when run_means.n_scores > 1 and run_means.lowest_read_score > 0
                then run_means.n * (
                    ln(
                        sum(
                            score_counts.n * pow(score_counts.score - run_means.mean_score, 2)
                            order by score_counts.score, score_counts.mitigation
                        ) / run_means.n
                    )
                    - ln(
                        sum(
                            score_counts.n * pow(score_counts.log_score - run_means.mean_log, 2)
                            order by score_counts.score, score_counts.mitigation
                        ) / run_means.n
                    )
                    - 2 * run_means.mean_log
                )
        end as likelihood_ratio
    from run_means
    inner join score_counts on run_means.run_id = score_counts.run_id
    group by
        run_means.run_id, run_means.n_scores, run_means.lowest_read_score, run_means.n, run_means.mean_score,
        run_means.mean_log
),

runs as (
    select
        run_id,
        audit,
        started_at
    from {{ ref("stg_ledger__runs") }}
),

-- Groups do not enter, so that labels can be permuted.
run_scales as (
    select
        run_spreads.run_id,
        run_spreads.lowest_read_score,
        decisions_runs.scale as stated_scale,
        case
            when decisions_runs.scale is not null then 'the audit says so'
            when run_spreads.lowest_read_score <= 0 then null
            when decisions_runs.has_currency then 'scores are amounts of money'
            when decisions_runs.highest_score > 1000 then 'the scale ends above 1,000'
            -- At a level of 5 %; ratings of up to ten points stay as they are.
            when run_spreads.n_scores > 10 and run_spreads.likelihood_ratio > 3.84
                then 'scores are skewed: closer to a log-normal than to a normal distribution'
        end as scale_reason,
        case
            when decisions_runs.scale = 'log' and run_spreads.lowest_read_score <= 0 then 'raw'
            else coalesce(decisions_runs.scale, if(scale_reason is null, 'raw', 'log'))
        end as scale
    from run_spreads
    inner join decisions_runs on run_spreads.run_id = decisions_runs.run_id
),

-- Runs without a stated scale have the scale of the audit's first run, so that runs and mitigations can be compared;
-- scores of 0 or less have no logarithms.
first_scales as (
    select
        runs.audit,
        run_scales.run_id,
        run_scales.scale,
        run_scales.scale_reason
    from run_scales
    inner join runs on run_scales.run_id = runs.run_id
    where run_scales.stated_scale is null
    qualify row_number() over (partition by runs.audit order by runs.started_at, runs.run_id) = 1
),

chosen_scales as (
    select
        run_scales.run_id,
        case
            when run_scales.stated_scale is not null then run_scales.scale
            when first_scales.scale = 'log' and run_scales.lowest_read_score <= 0 then 'raw'
            else first_scales.scale
        end as scale,
        case
            when run_scales.stated_scale is not null or first_scales.run_id = run_scales.run_id
                then run_scales.scale_reason
            when first_scales.scale = 'log' and run_scales.lowest_read_score > 0
                then first_scales.scale_reason || ' in the first run of this audit'
        end as scale_reason
    from run_scales
    inner join runs on run_scales.run_id = runs.run_id
    left join first_scales on runs.audit = first_scales.audit
),

score_units as (
    select
        score_spreads.run_id,
        score_spreads.mitigation,
        score_spreads.are_equal,
        score_spreads.score_sd,
        chosen_scales.scale,
        chosen_scales.scale_reason
    from score_spreads
    inner join chosen_scales on score_spreads.run_id = chosen_scales.run_id
)

select * from score_units
