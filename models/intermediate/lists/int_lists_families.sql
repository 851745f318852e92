with

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
    where
        is_judged_neutral
        and wording in ('clean', 'indirect')
        and attribute <> '(all)'
),

robustness_values as (
    select *
    from {{ ref("int_lists_robustness_values") }}
    where attribute = '(all)'
),

compared_attributes as (
    select
        run_id,
        mitigation,
        is_crossed,
        count(ndcg) > 0 as has_relevance
    from group_values
    group by list_set_id, run_id, mitigation, is_crossed
    having count(distinct group_name) > 1
),

worded as (
    select
        run_id,
        mitigation,
        count(distinct concat_ws(' | ', wording, domain)) as n_wordings
    from robustness_values
    group by run_id, mitigation
),

-- How many findings Holm's step-down holds together: SNSR and SNSV of attributes fail the audit; those of
-- intersections, what becomes of the lists, and robustness warn. Mitigations only warn.
families as (
    select
        compared_attributes.run_id,
        compared_attributes.mitigation,
        coalesce(sum(2) filter (where not compared_attributes.is_crossed), 0) as n_failing,
        coalesce(sum(2) filter (where compared_attributes.is_crossed), 0)
        + sum(3 + cast(compared_attributes.has_relevance as integer))
        + coalesce(any_value(worded.n_wordings), 0) as n_warning
    from compared_attributes
    left join worded
        on
            compared_attributes.run_id = worded.run_id
            and compared_attributes.mitigation = worded.mitigation
    group by compared_attributes.run_id, compared_attributes.mitigation
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
)

select * from draws
