{{ config(materialized="by_run") }}

with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ run_rows("int_words_comparisons") }}
),

word_statistics as (
    select
        comparison_key,
        word,
        contribution,
        signed_share
    from {{ ref("int_words_statistics") }}
),

word_divergence_words as (
    select
        comparisons.*,
        word_statistics.*,
        row_number() over (
            partition by word_statistics.comparison_key
            order by word_statistics.contribution desc, word_statistics.word asc
        ) as contribution_rank
    from word_statistics
    inner join comparisons on word_statistics.comparison_key = comparisons.comparison_key
)

{{ contracted("word_divergence_words") }}
