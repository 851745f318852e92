with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        scheme,
        attribute,
        comparison,
        group_name,
        reference_group
    from {{ ref("int_words_comparisons") }}
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
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.comparison as varchar) as comparison,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        cast(word_statistics.word as varchar) as word,
        cast(
            row_number() over (
                partition by word_statistics.comparison_key
                order by word_statistics.contribution desc, word_statistics.word asc
            ) as bigint
        ) as contribution_rank,
        cast(word_statistics.contribution as double) as contribution,
        cast(word_statistics.signed_share as double) as signed_share
    from word_statistics
    inner join comparisons on word_statistics.comparison_key = comparisons.comparison_key
)

select * from word_divergence_words
