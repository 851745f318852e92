with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

separabilities as (
    select
        comparison_key,
        from_json(coefficients, '[{"word": "VARCHAR", "coefficient": "DOUBLE"}]') as coefficients
    from {{ ref("int_words_separabilities") }}
),

listed_coefficients as (
    select
        comparison_key,
        unnest(coefficients) as listed,
        generate_subscripts(coefficients, 1) as coefficient_rank
    from separabilities
),

separability_words as (
    select
        comparisons.*,
        listed_coefficients.listed.word,
        listed_coefficients.listed.coefficient,
        listed_coefficients.coefficient_rank
    from listed_coefficients
    inner join comparisons on listed_coefficients.comparison_key = comparisons.comparison_key
)

{{ contracted("separability_words") }}
