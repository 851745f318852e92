with

markers_runs as (
    select
        run_id,
        -- By default it is negative regard, of any scorer.
        coalesce(
            analysis -> 'markers' -> 'scores',
            cast('[{"label": "negative", "worse": "higher", "lowest": 0, "highest": 1}]' as json)
        ) as scores
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.markers')
),

judges as (
    select
        run_id,
        scorer,
        rubric,
        label,
        worse,
        lowest,
        highest
    from {{ ref("int_markers_judges") }}
),

label_scores as (
    select *
    from {{ ref("int_markers_label_scores") }}
),

listed as (
    select
        run_id,
        unnest(
            from_json(
                scores,
                '[{"scorer":"varchar","label":"varchar","worse":"varchar","lowest":"double","highest":"double"}]'
            )
        ) as listed_score
    from markers_runs
),

judged_scores as (
    select
        run_id,
        listed_score.scorer,
        listed_score.label,
        listed_score.worse,
        listed_score.lowest,
        listed_score.highest,
        cast(null as varchar) as rubric
    from listed
    where (run_id, coalesce(listed_score.scorer, '')) not in (select (judges.run_id, judges.scorer) from judges)
    union all by name
    select *
    from judges
    where (run_id, scorer) in (select (label_scores.run_id, label_scores.scorer) from label_scores)
),

scorers as (
    select
        label_scores.run_id,
        label_scores.scorer,
        string_agg(distinct label_scores.label, ', ' order by label_scores.label) as labels,
        count(judges.scorer) > 0 as is_judge
    from label_scores
    left join judges
        on
            label_scores.run_id = judges.run_id
            and label_scores.scorer = judges.scorer
    group by label_scores.run_id, label_scores.scorer
),

scorers_of_runs as (
    select
        run_id,
        string_agg(scorer, ', ' order by scorer) as scorers
    from scorers
    group by run_id
),

-- A scorer that is named and has scored nothing is said; where none is named there is nothing to say.
named as (
    select
        judged_scores.run_id,
        coalesce(scorers.scorer, judged_scores.scorer) as scorer,
        coalesce(judged_scores.label, '(number)') as label,
        judged_scores.label is null as is_number,
        judged_scores.worse,
        judged_scores.lowest,
        judged_scores.highest,
        judged_scores.rubric,
        scorers.labels
    from judged_scores
    left join scorers
        on
            judged_scores.run_id = scorers.run_id
            and coalesce(judged_scores.scorer, scorers.scorer) = scorers.scorer
            and (judged_scores.scorer is not null or not scorers.is_judge)
    where coalesce(scorers.scorer, judged_scores.scorer) is not null
),

ranges as (
    select
        named.*,
        min({{ judged_score("named", "label_scores") }}) as smallest,
        max({{ judged_score("named", "label_scores") }}) as largest,
        any_value(scorers_of_runs.scorers) as scorers
    from named
    left join scorers_of_runs on named.run_id = scorers_of_runs.run_id
    left join label_scores
        on
            named.run_id = label_scores.run_id
            and named.scorer = label_scores.scorer
    group by all
),

judged as (
    select
        *,
        -- The source's own score keeps its name.
        if(
            rubric is null and label = 'negative' and worse = 'higher' and lowest = 0 and highest = 1,
            'negative_regard', 'score'
        ) as outcome,
        if(outcome = 'negative_regard', scorer, scorer || ': ' || label) as scheme,
        case
            when outcome = 'negative_regard' then 'on ' || label
            when is_number then 'by ' || scorer
            else 'on ' || label || ' by ' || scorer
        end as in_words,
        case
            when labels is null
                then printf(
                    'the answers have no scores by %s, which analysis.markers.scores names, %s; '
                    'correct the name, or score the answers (biasledger score --scorer)',
                    scorer, coalesce('but scores by ' || scorers, 'and none by another scorer')
                )
            when smallest is null
                then printf(
                    'the labels of %s are %s, and none is %s; say which one is (import.score_labels, or score '
                    '--label-map)',
                    scorer, labels, if(is_number, 'a number', label)
                )
            -- Scores of labels that became one add up to 1 but for rounding.
            when smallest < lowest - 1e-6 or largest > highest + 1e-6
                then printf(
                    'scores %s run from %g to %g and are taken to run from %g to %g; give their lowest and highest '
                    'in analysis.markers.scores',
                    in_words, smallest, largest, lowest, highest
                )
        end as fault
    from ranges
)

select * from judged
