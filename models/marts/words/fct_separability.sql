with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

separabilities as (
    select
        *,
        -- The source's bands.
        case
            when isnan(accuracy_mean) then 'skipped'
            when accuracy_mean < 0.60 then 'not meaningful'
            when accuracy_mean <= 0.80 then 'moderate'
            else 'high'
        end as published_band
    from {{ ref("int_words_separabilities") }}
),

separability as (
    select
        comparisons.*,
        separabilities.* replace (nullif(separabilities.skipped_reason, '') as skipped_reason)
    from separabilities
    inner join comparisons on separabilities.comparison_key = comparisons.comparison_key
)

{{ contracted("separability") }}
