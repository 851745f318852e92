with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

classifier_accuracies as (
    select
        comparison_key,
        from_json(coefficients, '[{"word": "VARCHAR", "coefficient": "DOUBLE"}]') as coefficients
    from {{ ref("int_words_classifiers") }}
),

listed_coefficients as (
    select
        comparison_key,
        unnest(coefficients) as listed,
        generate_subscripts(coefficients, 1) as coefficient_rank
    from classifier_accuracies
),

classifier_words as (
    select
        comparisons.*,
        listed_coefficients.listed.word,
        listed_coefficients.listed.coefficient,
        listed_coefficients.coefficient_rank
    from listed_coefficients
    inner join comparisons on listed_coefficients.comparison_key = comparisons.comparison_key
)

{{ contracted("classifier_words") }}
