with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

classifier_accuracies as (
    select
        *,
        -- The source's bands.
        case
            when isnan(accuracy_mean) then 'skipped'
            when accuracy_mean < 0.60 then 'not meaningful'
            when accuracy_mean <= 0.80 then 'moderate'
            else 'high'
        end as published_band
    from {{ ref("int_words_classifiers") }}
),

classifier_accuracy as (
    select
        comparisons.*,
        classifier_accuracies.* replace (nullif(classifier_accuracies.skipped_reason, '') as skipped_reason)
    from classifier_accuracies
    inner join comparisons on classifier_accuracies.comparison_key = comparisons.comparison_key
)

{{ contracted("classifier_accuracy") }}
