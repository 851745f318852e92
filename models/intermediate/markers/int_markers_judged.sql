with

markers_runs as (
    select
        run_id,
        -- Where none is named it is negative regard, whoever scored it.
        coalesce(
            analysis -> 'markers' -> 'scores',
            cast('[{"label": "negative", "worse": "higher", "lowest": 0, "highest": 1}]' as json)
        ) as scores
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.markers')
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

scorers as (
    select
        run_id,
        scorer,
        string_agg(distinct label, ', ' order by label) as labels
    from label_scores
    group by run_id, scorer
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
        listed.run_id,
        coalesce(scorers.scorer, listed.listed_score.scorer) as scorer,
        coalesce(listed.listed_score.label, '(number)') as label,
        listed.listed_score.label is null as is_number,
        listed.listed_score.worse,
        listed.listed_score.lowest,
        listed.listed_score.highest,
        scorers.labels
    from listed
    left join scorers
        on
            listed.run_id = scorers.run_id
            and coalesce(listed.listed_score.scorer, scorers.scorer) = scorers.scorer
    where coalesce(scorers.scorer, listed.listed_score.scorer) is not null
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
            label = 'negative' and worse = 'higher' and lowest = 0 and highest = 1, 'negative_regard', 'score'
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
                    'the ledger holds scores of this run by %s, and none by %s, whom analysis.markers.scores names; '
                    'correct the name, or score the answers (biasledger score --scorer)',
                    coalesce(scorers, 'nobody'), scorer
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
