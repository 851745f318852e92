with

item_shares as (
    select *
    from {{ ref("int_lists_item_shares") }}
),

compared as (
    select
        item_set_id,
        run_id,
        mitigation,
        domain,
        attribute,
        group_name,
        {{ fingerprint_of(["subject", "item", "share_of_group", "share_of_neutral"]) }} as fingerprint
    from item_shares
    group by item_set_id, run_id, mitigation, domain, attribute, group_name
),

counted as (
    select
        *,
        -- Each group's items are adjusted for each other; nothing is judged of them.
        {{ permutations_for("10") }} as n_permutations
    from compared
),

keyed_comparisons as (
    select
        {{ key_of([
            "item_set_id", "fingerprint", "n_permutations", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted
)

select * from keyed_comparisons
