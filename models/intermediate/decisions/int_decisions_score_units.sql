{{ config(materialized="view") }}

with

score_counts as (
    select
        run_id,
        mitigation,
        score,
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
score_units as (
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
)

select * from score_units
