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
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.comparison as varchar) as comparison,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        cast(listed_coefficients.listed.word as varchar) as word,
        cast(listed_coefficients.coefficient_rank as bigint) as coefficient_rank,
        cast(listed_coefficients.listed.coefficient as double) as coefficient
    from listed_coefficients
    inner join comparisons on listed_coefficients.comparison_key = comparisons.comparison_key
)

select * from separability_words
