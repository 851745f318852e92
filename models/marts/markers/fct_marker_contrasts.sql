with

-- Draws are those that were made: fewer than requested if the test stopped early.
comparisons as (
    select * exclude (n_permutations, seed, n_blocks, n_marked, n_reference)
    from {{ ref("int_markers_comparisons") }}
    where kind = 'list'
),

associations as (
    select * exclude (n_marked, n_reference)
    from {{ ref("int_markers_associations") }}
),

-- A list in a run, for all groups.
marker_counts as (
    select
        *,
        {{ list_key() }} as list_key
    from {{ ref("fct_marker_counts") }}
),

listed as (
    select
        comparisons.*,
        associations.*,
        comparisons.categories[associations.category_id + 1] as list
    from associations
    inner join comparisons on associations.comparison_key = comparisons.comparison_key
),

keyed as (
    select
        *,
        {{ list_key() }} as list_key
    from listed
),

marker_contrasts as (
    select
        keyed.*,
        marked.n_hits as n_marked,
        reference.n_hits as n_reference,
        marked.n_tokens as n_tokens_marked,
        reference.n_tokens as n_tokens_reference,
        -- The source's script adds 0.001 to all four counts.
        ((marked.n_hits + 0.001) / (marked.n_tokens - marked.n_hits + 0.001))
        / ((reference.n_hits + 0.001) / (reference.n_tokens - reference.n_hits + 0.001)) as odds_ratio,
        coalesce(keyed.p_value_adjusted < keyed.alpha, false) as is_associated
    from keyed
    inner join marker_counts as marked
        on
            keyed.list_key = marked.list_key
            and keyed.group_name = marked.group_name
    inner join marker_counts as reference
        on
            keyed.list_key = reference.list_key
            and keyed.reference_group = reference.group_name
)

{{ contracted("marker_contrasts") }}
