with

-- Of draws those count that were made: fewer than a comparison asks for where its test stopped early.
comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_markers_list_comparisons") }}
),

associations as (
    select * exclude (n_marked, n_reference)
    from {{ ref("int_markers_associations") }}
),

marker_counts as (
    select *
    from {{ ref("fct_marker_counts") }}
),

named as (
    select
        comparisons.*,
        associations.*,
        comparisons.categories[associations.category_id + 1] as list
    from associations
    inner join comparisons on associations.comparison_key = comparisons.comparison_key
),

marker_contrasts as (
    select
        named.*,
        marked.n_hits as n_marked,
        reference.n_hits as n_reference,
        marked.n_tokens as n_tokens_marked,
        reference.n_tokens as n_tokens_reference,
        -- The source's script adds 0.001 to all four counts.
        ((marked.n_hits + 0.001) / (marked.n_tokens - marked.n_hits + 0.001))
        / ((reference.n_hits + 0.001) / (reference.n_tokens - reference.n_hits + 0.001)) as odds_ratio,
        coalesce(named.p_value_adjusted < named.alpha, false) as is_associated
    from named
    inner join marker_counts as marked
        on
            named.run_id = marked.run_id
            and named.variant = marked.variant
            and named.scheme = marked.scheme
            and named.attribute = marked.attribute
            and named.group_name = marked.group_name
            and named.list = marked.list
    inner join marker_counts as reference
        on
            named.run_id = reference.run_id
            and named.variant = reference.variant
            and named.scheme = reference.scheme
            and named.attribute = reference.attribute
            and named.reference_group = reference.group_name
            and named.list = reference.list
)

{{ contracted("marker_contrasts") }}
