-- The twelve words that add most to the divergence of each contrast; at most six contrasts, alarms first.
with

contrasts as (
    select
        run_id,
        variant,
        scheme,
        attribute,
        group_name,
        reference_group,
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
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        contrasts.status,
        words.word,
        words.signed_share,
        words.contribution as contribution_bits,
        row_number() over (
            partition by contrasts.contrast_rank order by words.contribution desc, words.word
        ) as word_rank
    from marts.fct_word_divergence_words as words
    inner join contrasts using (run_id, variant, scheme, attribute, group_name, reference_group)
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
