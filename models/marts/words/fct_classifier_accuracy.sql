with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

classifier_accuracies as (
    select
        *,
        {{ double_or_null("published_accuracy_mean") }} as published_mean
    from {{ ref("int_words_classifiers") }}
),

classifier_accuracy as (
    select
        comparisons.*,
        classifier_accuracies.* replace (nullif(classifier_accuracies.skipped_reason, '') as skipped_reason),
        -- The source's bands are those of its own classifier of two groups.
        case
            when comparisons.comparison = 'all_groups' then null
            when classifier_accuracies.skipped_reason <> '' then 'skipped'
            when classifier_accuracies.published_mean < 0.60 then 'not meaningful'
            when classifier_accuracies.published_mean <= 0.80 then 'moderate'
            when classifier_accuracies.published_mean is not null then 'high'
        end as published_band
    from classifier_accuracies
    inner join comparisons on classifier_accuracies.comparison_key = comparisons.comparison_key
)

{{ contracted("classifier_accuracy") }}
