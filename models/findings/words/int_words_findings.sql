with

comparisons as (
    select
        contrast_id,
        run_id,
        mitigation,
        scheme,
        attribute,
        group_name,
        reference_group,
        is_crossed,
        moves_prompts,
        least(n_marked_units, n_reference_units) as n_units,
        -- The unit that a finding needs more of.
        if(coalesce(moves_prompts, false), 'questions to each group', 'answers for each group') as settled_by
    from {{ ref("int_words_comparisons") }}
    where
        is_judged
        and comparison = 'against_reference'
),

-- Runs whose texts keep the words that name a group: `remove: none`.
runs_removing as (
    select distinct run_id
    from {{ ref("int_words_terms") }}
    where why in ('label', 'descriptor')
),

word_divergence as (
    select *
    from {{ ref("fct_word_divergence") }}
),

classifier_accuracy as (
    select *
    from {{ ref("fct_classifier_accuracy") }}
),

answer_lengths as (
    select *
    from {{ ref("fct_answer_lengths") }}
),

marked_words as (
    select *
    from {{ ref("fct_marked_words") }}
    where p_value_adjusted is not null
),

divergence_findings as (
    select
        comparisons.contrast_id,
        'word_divergence' as measure,
        word_divergence.jsd_debiased as value,
        word_divergence.p_value,
        word_divergence.null_mean,
        word_divergence.null_sd,
        word_divergence.interval_low,
        word_divergence.interval_high,
        (word_divergence.interval_high - word_divergence.interval_low) / 2 as half_width,
        word_divergence.jsd_nats as published_value,
        word_divergence.n_permutations,
        word_divergence.seed,
        printf(
            'the words of answers {about_group} and {about_reference} differ by %s '
            || '(0 is the same words, 100 no word in common; chance alone gives %.1f)',
            if(
                round(100 * word_divergence.jsd_debiased, 1) <= 0, 'no more than chance',
                printf('%.1f points of 100 beyond chance', 100 * word_divergence.jsd_debiased)
            ),
            100 * word_divergence.null_mean
        ) as detail
    from comparisons
    left join word_divergence
        on
            comparisons.contrast_id = word_divergence.contrast_id
            and comparisons.scheme = word_divergence.scheme
),

classifier_accuracy_findings as (
    select
        comparisons.contrast_id,
        'classifier_accuracy' as measure,
        classifier_accuracy.beyond_chance as value,
        classifier_accuracy.p_value,
        classifier_accuracy.null_mean,
        classifier_accuracy.null_sd,
        classifier_accuracy.interval_low,
        classifier_accuracy.interval_high,
        (classifier_accuracy.interval_high - classifier_accuracy.interval_low) / 2 as half_width,
        classifier_accuracy.accuracy_mean as published_value,
        classifier_accuracy.n_permutations,
        classifier_accuracy.seed,
        if(runs_removing.run_id is null, 'a classifier may go by words that name a group', null) as caution,
        coalesce(
            printf(
                'from the words alone, a classifier tells answers {about_group} from answers {about_reference} %.0f %% '
                || 'of the time (guessing gives 50 %%; words that name a group are %s)',
                100 * classifier_accuracy.beyond_chance,
                if(runs_removing.run_id is null, 'left in', 'taken out')
            ),
            classifier_accuracy.skipped_reason
        ) as detail
    from comparisons
    left join runs_removing on comparisons.run_id = runs_removing.run_id
    left join classifier_accuracy
        on
            comparisons.contrast_id = classifier_accuracy.contrast_id
            and comparisons.scheme = classifier_accuracy.scheme
),

length_findings as (
    select
        comparisons.contrast_id,
        'length_gap' as measure,
        answer_lengths.length_gap as value,
        answer_lengths.p_value,
        answer_lengths.null_mean,
        answer_lengths.null_sd,
        answer_lengths.interval_low,
        answer_lengths.interval_high,
        (answer_lengths.interval_high - answer_lengths.interval_low) / 2 as half_width,
        answer_lengths.width_power,
        answer_lengths.n_permutations,
        answer_lengths.seed,
        printf(
            'answers {about_group} are %s answers {about_reference} (%.0f words on average against %.0f)',
            if(
                abs(exp(answer_lengths.length_gap) - 1) < 0.005, 'as long as',
                printf(
                    '%.0f %% %s than', abs(100 * (exp(answer_lengths.length_gap) - 1)),
                    {{ way_of("answer_lengths.length_gap", "longer", "shorter") }}
                )
            ),
            answer_lengths.tokens_marked, answer_lengths.tokens_reference
        ) as detail
    from comparisons
    left join answer_lengths
        on
            comparisons.contrast_id = answer_lengths.contrast_id
            and comparisons.scheme = answer_lengths.scheme
),

-- The most certain word first, and how far any more certain one goes.
ranked_words as (
    select
        marked_words.*,
        comparisons.n_units as n_smaller_units,
        row_number() over most_certain_first as place,
        max(abs(marked_words.z_score)) over (
            most_certain_first rows between unbounded preceding and 1 preceding
        ) as largest_before
    from comparisons
    inner join marked_words
        on
            comparisons.contrast_id = marked_words.contrast_id
            and comparisons.scheme = marked_words.scheme
    window
        most_certain_first as (
            partition by comparisons.contrast_id
            order by
                marked_words.p_value_adjusted asc, abs(marked_words.z_score) desc, marked_words.word asc
        )
),

word_families as (
    select
        contrast_id,
        -- The most certain word past a threshold is judged: never one with a smaller value than a more certain one.
        cast(
            list(
                {
                    'value': abs(z_score),
                    'p_value': p_value_adjusted,
                    'detail': null,
                    'member': word,
                    -- The band on the scale of |z|.
                    'interval_low': if(z_score < 0, -log_odds_high, log_odds_low) / sqrt(variance),
                    'interval_high': if(z_score < 0, -log_odds_low, log_odds_high) / sqrt(variance)
                }
                order by place asc
            ) filter (where place = 1 or abs(z_score) > largest_before) as {{ family_type() }}
        ) as family,
        max(abs(z_score)) as published_value,
        -- Words that at least one unit in ten uses: rarer ones never get bands narrow enough to clear.
        max(greatest(abs(log_odds_low), abs(log_odds_high))) filter (
            where n_units_using >= 0.2 * n_smaller_units
        ) as interval_high,
        max(n_permutations) as n_permutations,
        max(seed) as seed,
        count(*) filter (where is_marked and z_score > 0) as n_more,
        count(*) filter (where is_marked and z_score < 0) as n_less,
        list(word order by z_score desc, word asc) filter (where is_marked and z_score > 0)[:5] as words_more,
        list(word order by z_score asc, word asc) filter (where is_marked and z_score < 0)[:5] as words_less
    from ranked_words
    group by contrast_id
),

marked_words_findings as (
    select
        comparisons.contrast_id,
        'marked_words' as measure,
        word_families.family[1].value as value,
        word_families.family[1].p_value as p_value,
        word_families.family,
        cast(null as double) as interval_low,
        word_families.interval_high,
        word_families.published_value,
        word_families.n_permutations,
        word_families.seed,
        printf(
            '%s more often in answers {about_group}%s and %s in answers {about_reference}%s',
            case word_families.n_more
                when 0 then 'no word appears'
                when 1 then '1 word appears'
                else printf('%s words appear', {{ thousands("word_families.n_more") }})
            end,
            {{ examples_of("word_families.words_more", "word_families.n_more") }},
            if(word_families.n_less = 0, 'none', {{ thousands("word_families.n_less") }}),
            {{ examples_of("word_families.words_less", "word_families.n_less") }}
        ) as detail,
        if(
            word_families.family is null, 'chance cannot be estimated, as no word could be tested',
            'no single word is shown to appear more often in answers {about_group} or {about_reference}'
        ) as detail_without_alarm,
        printf(
            'a word with twice the odds for one group (rare words, in fewer than one %s in ten, are not looked at)',
            if(comparisons.moves_prompts, 'question', 'answer')
        ) as ruled_out
    from comparisons
    left join word_families on comparisons.contrast_id = word_families.contrast_id
),

measured as (
    select * from divergence_findings
    union all by name
    select * from classifier_accuracy_findings
    union all by name
    select * from marked_words_findings
    union all by name
    select * from length_findings
),

-- Published rules use the source's own schemes, where the run has them. Its divergence and its classifier cut words as
-- the vectoriser does, its z-scores do not.
published_values as (
    select
        contrast_id,
        'word_divergence' as measure,
        jsd_nats as published_value
    from {{ ref("fct_word_divergence") }}
    where scheme = 'seed_vectors'
    union all by name
    select
        contrast_id,
        'classifier_accuracy' as measure,
        published_accuracy_mean as published_value
    from {{ ref("fct_classifier_accuracy") }}
    where scheme = 'seed_vectors'
    union all by name
    select
        contrast_id,
        'marked_words' as measure,
        max(abs(z_score)) as published_value
    from {{ ref("fct_marked_words") }}
    where scheme = 'seed'
    group by contrast_id
),

words_findings as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        comparisons.is_crossed,
        comparisons.n_units,
        comparisons.settled_by,
        measured.*
        replace (coalesce(published_values.published_value, measured.published_value) as published_value)
    from measured
    inner join comparisons on measured.contrast_id = comparisons.contrast_id
    left join published_values
        on
            measured.contrast_id = published_values.contrast_id
            and measured.measure = published_values.measure
)

select * exclude (contrast_id) from words_findings
