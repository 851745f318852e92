-- Words of at most four contrasts: the eighty largest |z| and the fifty most frequent words of each.
with

contrasts as (
    select
        contrast_id,
        finding_id,
        scheme,
        row_number() over (
            order by
                attribute like '%*%', status = 'alarm' desc, abs(value) desc nulls last,
                attribute, group_name, reference_group
        ) as contrast_rank
    from marts.fct_findings
    where
        run_id = $run_id
        and mitigation = 'plain'
        and measure = 'marked_words'
),

words as (
    select
        contrasts.contrast_rank,
        contrasts.finding_id,
        words.attribute,
        words.group_name,
        words.reference_group,
        words.word,
        words.n_group_uses + words.n_reference_uses as n_occurrences,
        words.z_score,
        words.log_odds,
        words.p_value_adjusted,
        words.is_marked,
        row_number() over (
            partition by contrasts.contrast_rank order by abs(words.z_score) desc, words.word
        ) as z_rank,
        row_number() over (
            partition by contrasts.contrast_rank order by words.n_group_uses + words.n_reference_uses desc, words.word
        ) as frequency_rank
    from marts.fct_marked_words as words
    inner join contrasts using (contrast_id, scheme)
    where words.z_score is not null
)

select
    attribute,
    group_name,
    reference_group,
    finding_id,
    word,
    n_occurrences,
    z_score,
    log_odds,
    p_value_adjusted,
    is_marked
from words
where
    contrast_rank <= 4
    and (z_rank <= 80 or frequency_rank <= 50)
order by contrast_rank, z_rank
