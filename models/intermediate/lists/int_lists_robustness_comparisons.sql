with

robustness_values as (
    select *
    from {{ ref("int_lists_robustness_values") }}
),

lists_runs as (
    select
        run_id,
        lists_key,
        analysis_hash,
        schemes
    from {{ ref("int_lists_runs") }}
),

families as (
    select *
    from {{ ref("int_lists_families") }}
),

compared as (
    select distinct
        list_set_id,
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        attribute
    from robustness_values
),

marked_comparisons as (
    select
        compared.*,
        {{ contrast_id(
            "compared", attribute="'(wording)'", group_name="compared.wording", reference_group="'clean'"
        ) }} as contrast_id,
        lists_runs.lists_key,
        lists_runs.analysis_hash,
        'jaccard' as similarity,
        families.n_permutations as n_permutations_if_judged,
        -- A wording is judged over all attributes.
        lists_runs.schemes[1] = compared.scheme and compared.attribute = '(all)' as is_judged
    from compared
    inner join lists_runs on compared.run_id = lists_runs.run_id
    left join families
        on
            compared.run_id = families.run_id
            and compared.mitigation = families.mitigation
),

keyed_comparisons as (
    select
        {{ key_of([
            "lists_key", "mitigation", "scheme", "wording", "domain", "attribute", "is_judged", "n_permutations_if_judged",
            "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        if(is_judged, coalesce(n_permutations_if_judged, 0), 0) as n_permutations,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from marked_comparisons
)

select * from keyed_comparisons
