with

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
),

lists_runs as (
    select
        run_id,
        lists_key,
        analysis_hash,
        schemes
    from {{ ref("int_lists_runs") }}
),

reruns as (
    select distinct rerun_key
    from {{ ref("int_lists_rerun_values") }}
),

families as (
    select *
    from {{ ref("int_lists_families") }}
),

compared as (
    select
        list_set_id,
        run_id,
        mitigation,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        is_crossed,
        bool_or(is_judged_neutral) as is_judged_neutral,
        count(distinct group_name) as n_groups
    from group_values
    group by all
    having count(distinct group_name) > 1
),

marked_comparisons as (
    select
        compared.*,
        {{ contrast_id("compared", group_name="'(all)'", reference_group="'(neutral)'") }} as contrast_id,
        lists_runs.lists_key,
        lists_runs.analysis_hash,
        families.n_permutations as n_permutations_if_judged,
        (
            lists_runs.schemes[1] = compared.scheme
            and compared.is_judged_neutral
            and compared.wording in ('clean', 'indirect')
            and compared.attribute <> '(all)'
        ) as is_judged,
        {{ rerun_key("compared") }} as rerun_key
    from compared
    inner join lists_runs on compared.run_id = lists_runs.run_id
    left join families
        on
            compared.run_id = families.run_id
            and compared.mitigation = families.mitigation
),

keyed_comparisons as (
    select
        -- Cache keys cover the inputs, not the numbers, whose last digits may vary.
        {{ key_of([
            "marked_comparisons.lists_key", "marked_comparisons.mitigation", "marked_comparisons.scheme",
            "marked_comparisons.neutral", "marked_comparisons.wording", "marked_comparisons.domain",
            "marked_comparisons.attribute", "marked_comparisons.is_judged",
            "marked_comparisons.n_permutations_if_judged", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        marked_comparisons.* replace (reruns.rerun_key as rerun_key),
        if(marked_comparisons.is_judged, marked_comparisons.n_permutations_if_judged, 0) as n_permutations,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from marked_comparisons
    left join reruns on marked_comparisons.rerun_key = reruns.rerun_key
)

select * from keyed_comparisons
