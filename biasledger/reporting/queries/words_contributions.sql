-- The ten words that add most to the divergence of each contrast, and how many of each group's answers use them;
-- at most six contrasts, alarms first.
with

contrasts as (
    select
        contrast_id,
        finding_id,
        scheme,
        status,
        row_number() over (
            order by attribute like '%*%', status = 'alarm' desc, value desc, attribute, group_name, reference_group
        ) as contrast_rank
    from marts.fct_findings
    where
        run_id = $run_id
        and mitigation = 'plain'
        and measure = 'word_divergence'
),

answers as (
    select
        attribute,
        group_name,
        n_ok
    from marts.fct_answer_quality
    where
        run_id = $run_id
        and mitigation = 'plain'
        and n_ok > 0
),

words as (
    select
        contrasts.contrast_rank,
        contrasts.finding_id,
        contrasts.status,
        words.attribute,
        words.group_name,
        words.reference_group,
        words.word,
        words.signed_share,
        words.contribution as contribution_bits,
        100 * coalesce(used.n_group_answers_using, 0) / of_group.n_ok as answers_per_100,
        100 * coalesce(used.n_reference_answers_using, 0) / of_reference.n_ok as reference_answers_per_100,
        row_number() over (
            partition by contrasts.contrast_rank order by words.contribution desc, words.word
        ) as word_rank
    from marts.fct_word_divergence_words as words
    inner join contrasts using (contrast_id, scheme)
    left join marts.fct_marked_words as used using (contrast_id, scheme, word)
    left join answers as of_group
        on words.attribute = of_group.attribute and words.group_name = of_group.group_name
    left join answers as of_reference
        on words.attribute = of_reference.attribute and words.reference_group = of_reference.group_name
)

select
    attribute,
    group_name,
    reference_group,
    finding_id,
    status,
    word,
    answers_per_100,
    reference_answers_per_100,
    signed_share,
    contribution_bits
from words
where
    contrast_rank <= 6
    and word_rank <= 10
order by contrast_rank, word_rank
