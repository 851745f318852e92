with

settings as (
    select
        run_id,
        analysis -> 'texts' -> 'similarity' ->> 0 as scheme
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.texts')
),

measures as (
    select
        measure,
        statement,
        is_read_as_percent,
        only_where_found,
        display_factor,
        coalesce(display_unit, '') as display_unit
    from {{ ref("measures") }}
    where method = 'texts'
),

expected as (
    select
        contrasts.*,
        measures.measure,
        measures.only_where_found,
        if(measures.measure = 'similarity_gap', settings.scheme, 'words') as scheme
    from {{ ref("int_answers_contrasts") }} as contrasts
    inner join settings on contrasts.run_id = settings.run_id
    cross join measures
    where contrasts.reference_group not in ('(neutral)', '(others)')
),

similarities as (
    select
        contrast_id,
        'similarity_gap' as measure,
        printf(
            'an answer {about_group} and one {about_reference} are %s two answers about one group '
            || '(similarity %.1f of 100 against %.1f)',
            if(
                abs(similarity_gap) < 0.0005, 'as much alike as',
                printf(
                    '%.1f points of 100 %s alike than', abs(100 * similarity_gap),
                    {{ way_of("similarity_gap", "less", "more") }}
                )
            ),
            100 * similarity_between, 100 * similarity_within
        )
        -- The means above are of all answers; the gap is of those that share a question.
        || if(
            {{ differs_within_strata("similarity_gap", "(similarity_within - similarity_between)", 3) }},
            ' where like is compared with like', ''
        )
        || if(
            scheme in ('rouge_l', 'bleu', 'lsa'),
            printf('; %s hardly sees words that only one group has, word_divergence does', scheme), ''
        ) as detail,
        case
            when similarity_gap is null
                then printf(
                    'an answer {about_group} and one {about_reference} have a similarity of %.1f of 100, '
                    || 'and no question shows how alike two about one group would be: ask each twice (trials), '
                    || 'or in a second wording or name of each group',
                    100 * similarity_between
                )
            when p_value is null then 'chance cannot be estimated'
            when unit = 'name' and p_value = 1 and null_sd <= 1e-12
                then printf(
                    'an answer {about_group} and one {about_reference} have a similarity of %.1f of 100, and two '
                    || 'about one group of %.1f; as each question has one wording of a group, similarity cannot tell '
                    || 'a wording from its group: word_divergence can',
                    100 * similarity_between, 100 * similarity_within
                )
        end as detail_without_alarm,
        similarity_gap as value,
        p_value,
        null_mean,
        null_sd,
        interval_low,
        interval_high,
        similarity_between as published_value,
        if(n_questions > 1, n_questions, n_units) as n_units,
        if(unit = 'name', n_names, n_units) as n_sufficient,
        if(n_questions > 1, 'questions', 'answers about each group') as settled_by,
        {{ width_power("standard_error") }} as width_power,
        n_permutations,
        seed
    from {{ ref("fct_text_similarity") }}
    where is_judged
),

displayed_gaps as (
    select
        gaps.*,
        measures.measure,
        measures.statement,
        measures.display_unit,
        if(
            measures.is_read_as_percent, exp(gaps.mean_marked), measures.display_factor * gaps.mean_marked
        ) as displayed_marked,
        if(
            measures.is_read_as_percent, exp(gaps.mean_reference), measures.display_factor * gaps.mean_reference
        ) as displayed_reference,
        measures.display_factor * if(measures.is_read_as_percent, exp(gaps.gap) - 1, gaps.gap) as displayed_gap,
        measures.display_factor
        * if(measures.is_read_as_percent, exp(gaps.adjusted_gap) - 1, gaps.adjusted_gap) as displayed_adjusted_gap
    from {{ ref("fct_text_gaps") }} as gaps
    inner join measures on gaps.outcome || '_gap' = measures.measure
),

gaps as (
    select
        contrast_id,
        measure,
        printf(statement, displayed_marked, displayed_reference)
        || ': '
        || if(
            abs(displayed_adjusted_gap) < 0.05, 'no difference',
            printf('%.1f%s %s', abs(displayed_adjusted_gap), display_unit, {{ way_of("displayed_adjusted_gap") }})
        )
        || if(
            {{ differs_within_strata("displayed_adjusted_gap", "displayed_gap", 1) }},
            ' where like is compared with like', ''
        ) as detail,
        if(p_value is null, 'chance cannot be estimated, as no question was answered about both groups', null)
            as detail_without_alarm,
        adjusted_gap as value,
        p_value,
        null_mean,
        null_sd,
        adjusted_low as interval_low,
        adjusted_high as interval_high,
        gap as published_value,
        if(unit = 'name', n_names, n_units) as n_units,
        n_units as n_sufficient,
        case unit
            when 'name' then 'names a group'
            when 'prompt' then 'prompts about each group'
            else 'answers about each group'
        end as settled_by,
        width_power,
        n_permutations,
        seed
    from displayed_gaps
),

measured as (
    select * from similarities
    union all by name
    select * from gaps
),

texts_findings as (
    select
        expected.run_id,
        expected.mitigation,
        expected.measure,
        expected.scheme,
        expected.attribute,
        expected.group_name,
        expected.reference_group,
        expected.is_crossed,
        coalesce(
            measured.detail,
            if(
                expected.measure = 'similarity_gap', 'no question was answered about both groups',
                'the answers about a group are too short for this measure or in a language that it lacks'
            )
        ) as detail,
        measured.detail_without_alarm,
        measured.value,
        measured.p_value,
        measured.null_mean,
        measured.null_sd,
        measured.interval_low,
        measured.interval_high,
        measured.published_value,
        measured.n_units,
        measured.n_sufficient,
        measured.settled_by,
        measured.width_power,
        coalesce(measured.n_permutations, 0) as n_permutations,
        measured.seed
    from expected
    left join measured
        on
            expected.contrast_id = measured.contrast_id
            and expected.measure = measured.measure
    where measured.measure is not null or not expected.only_where_found
)

select * from texts_findings
