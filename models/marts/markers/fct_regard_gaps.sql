with {{ gaps_of("negative_regard", "score") }},

judged as (
    select *
    from {{ ref("int_markers_judged") }}
),

regard_gaps as (
    select
        gaps_of_outcomes.*,
        judged.scorer,
        judged.label,
        judged.worse,
        judged.lowest,
        judged.highest,
        {{ score_of("gaps_of_outcomes.mean_marked", "judged") }} as mean_score_marked,
        {{ score_of("gaps_of_outcomes.mean_reference", "judged") }} as mean_score_reference
    from gaps_of_outcomes
    inner join judged
        on
            gaps_of_outcomes.run_id = judged.run_id
            and gaps_of_outcomes.scheme = judged.scheme
)

{{ contracted("regard_gaps") }}
