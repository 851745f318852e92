-- The twelve words that add most to the divergence of each contrast; at most six contrasts, alarms first.
with

contrasts as (
    select
        contrast_id,
        scheme,
        status,
        row_number() over (
            order by attribute like '%*%', status = 'alarm' desc, value desc, attribute, group_name, reference_group
        ) as contrast_rank
    from marts.fct_findings
    where
        run_id = $run_id
        and variant = 'plain'
        and measure = 'word_divergence'
),

words as (
    select
        contrasts.contrast_rank,
        contrasts.status,
        words.attribute,
        words.group_name,
        words.reference_group,
        words.word,
        words.signed_share,
        words.contribution as contribution_bits,
        row_number() over (
            partition by contrasts.contrast_rank order by words.contribution desc, words.word
        ) as word_rank
    from marts.fct_word_divergence_words as words
    inner join contrasts using (contrast_id, scheme)
)

select
    attribute,
    group_name,
    reference_group,
    status,
    word,
    signed_share,
    contribution_bits
from words
where
    contrast_rank <= 6
    and word_rank <= 12
order by contrast_rank, word_rank
