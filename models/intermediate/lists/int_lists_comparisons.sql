with

repeated_values as (
    select *
    from {{ ref("int_lists_repeated_values") }}
),

lists_runs as (
    select
        run_id,
        schemes[1] as judged_scheme
    from {{ ref("int_lists_runs") }}
),

reruns as (
    select distinct values_key
    from repeated_values
    where kind = 'rerun'
),

compared_groups as (
    select
        'groups' as kind,
        values_key,
        list_set_id,
        run_id,
        mitigation,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        is_crossed,
        count(distinct group_name) as n_groups,
        count(ndcg) > 0 as has_relevance,
        bool_or(is_judged_neutral and wording in ('clean', 'indirect') and attribute <> '(all)') as is_judgeable
    from {{ ref("int_lists_group_values") }}
    group by all
    having count(distinct group_name) > 1
),

-- Lists in another wording against those of the clean one. A wording is judged over all attributes.
compared_wordings as (
    select distinct
        'wording' as kind,
        values_key,
        list_set_id,
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        attribute,
        attribute = '(all)' as is_judgeable
    from repeated_values
    where kind = 'wording'
),

compared as (
    select * from compared_groups
    union all by name
    select * from compared_wordings
),

worded as (
    select
        run_id,
        mitigation,
        count(distinct concat_ws(' | ', wording, domain)) as n_wordings
    from compared_wordings
    where is_judgeable
    group by run_id, mitigation
),

-- How many findings Holm's step-down holds together: SNSR and SNSV of attributes fail the audit; those of
-- intersections, what becomes of the lists, and robustness warn. Mitigations only warn.
families as (
    select
        compared_groups.run_id,
        compared_groups.mitigation,
        coalesce(sum(2) filter (where not compared_groups.is_crossed), 0) as n_failing,
        coalesce(sum(2) filter (where compared_groups.is_crossed), 0)
        + sum(3 + cast(compared_groups.has_relevance as integer))
        + coalesce(any_value(worded.n_wordings), 0) as n_warning
    from compared_groups
    left join worded
        on
            compared_groups.run_id = worded.run_id
            and compared_groups.mitigation = worded.mitigation
    where compared_groups.is_judgeable
    group by compared_groups.run_id, compared_groups.mitigation
),

-- With fewer than m / alpha draws Holm's smallest step could not be reached: ten times as many where the audit fails,
-- twice where it warns.
draws as (
    select
        run_id,
        mitigation,
        {{ permutations_for(
            "greatest(10 * n_failing, 2 * (n_warning + if(mitigation = 'plain', 0, n_failing)))"
        ) }} as n_permutations
    from families
),

judged_comparisons as (
    select
        compared.*,
        compared.scheme = lists_runs.judged_scheme and compared.is_judgeable as is_judged,
        if(is_judged, coalesce(draws.n_permutations, 0), 0) as n_permutations
    from compared
    inner join lists_runs on compared.run_id = lists_runs.run_id
    left join draws
        on
            compared.run_id = draws.run_id
            and compared.mitigation = draws.mitigation
),

group_comparisons as (
    select
        {{ key_of(["judged_comparisons.kind", "judged_comparisons.values_key"]) }} as comparison_key,
        {{ contrast_id("judged_comparisons", group_name="'(all)'", reference_group="'(neutral)'") }} as contrast_id,
        judged_comparisons.*,
        reruns.values_key as rerun_key
    from judged_comparisons
    left join reruns on {{ rerun_key("judged_comparisons") }} = reruns.values_key
    where judged_comparisons.kind = 'groups'
),

wording_comparisons as (
    select
        {{ key_of(["kind", "values_key"]) }} as comparison_key,
        {{ contrast_id(attribute="'(wording)'", group_name="wording", reference_group="'clean'") }} as contrast_id,
        *,
        'jaccard' as similarity
    from judged_comparisons
    where kind = 'wording'
),

-- A group's lists and the neutral ones of the same subjects, item by item: each group's items are adjusted for each
-- other, and nothing is judged of them.
item_comparisons as (
    select
        {{ key_of(["'items'", "values_key"]) }} as comparison_key,
        'items' as kind,
        values_key,
        run_id,
        mitigation,
        domain,
        attribute,
        group_name,
        {{ permutations_for("10") }} as n_permutations
    from {{ ref("int_lists_item_shares") }}
    group by values_key, run_id, mitigation, domain, attribute, group_name
),

comparisons as (
    select * from group_comparisons
    union all by name
    select * from wording_comparisons
    union all by name
    select * from item_comparisons
)

select
    *,
    {{ var("alpha") }} as alpha,
    {{ var("seed") }} as seed
from comparisons
