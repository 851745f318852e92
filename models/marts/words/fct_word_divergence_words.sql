{%- set runs = new_runs(ref("int_words_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_words_runs", told_by="run_id", with_settings=true) }}

with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
    where {{ is_of_runs("run_id", runs) }}
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
