{{ config(materialized="by_run") }}

with

contrasts as (
    select *
    from {{ run_rows("int_contrasts") }}
    where
        comparison = 'against_reference'
        -- Unknown groups are not compared.
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        is_crossed
    from {{ ref("int_run_attributes") }}
),

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
),

categories as (
    select *
    from {{ run_rows("int_decisions_categories") }}
    where excluded_reason is null
),

pools as (
    select distinct
        pool_key,
        run_id,
        mitigation,
        attribute,
        domain,
        outcome
    from units
    -- Judged as an impact ratio alone.
    where outcome <> 'selected_of_asked'
),

gaps as (
    select
        contrasts.*,
        pools.pool_key,
        pools.domain,
        pools.outcome,
        [contrasts.reference_group, contrasts.group_name] as groups_compared
    from contrasts
    inner join pools
        on
            contrasts.run_id = pools.run_id
            and contrasts.mitigation = pools.mitigation
            and contrasts.attribute = pools.attribute
),

impact_ratios as (
    select
        {{ contrast_id("categories", group_name="'(all)'", reference_group="'(best off)'") }} as contrast_id,
        categories.run_id,
        categories.mitigation,
        categories.attribute,
        'all_groups' as comparison,
        '(all)' as group_name,
        '(best off)' as reference_group,
        run_attributes.is_crossed,
        categories.pool_key,
        categories.domain,
        categories.outcome,
        list(categories.group_name order by categories.group_name) as groups_compared
    from categories
    inner join run_attributes
        on
            categories.run_id = run_attributes.run_id
            and categories.attribute = run_attributes.attribute
    group by
        categories.run_id, categories.mitigation, categories.attribute, run_attributes.is_crossed,
        categories.pool_key, categories.domain, categories.outcome
    having
        count(*) > 1
        -- If no person is selected, there is no rate to divide by.
        and sum(categories.n_selected) > 0
),

asked as (
    select * from gaps
    union all by name
    select * from impact_ratios
),

compared as (
    select
        asked.*,
        bool_or(units.is_paired) as is_paired,
        bool_and(units.is_person) as are_people,
        min(units.lowest_outcome) as outcome_lowest,
        max(units.highest_outcome) as outcome_highest
    from asked
    inner join units
        on
            asked.pool_key = units.pool_key
            and asked.outcome = units.outcome
            and list_contains(asked.groups_compared, units.group_name)
    group by all
    having count(distinct units.group_name) filter (where units.n > 0) = len(asked.groups_compared)
),

counted_comparisons as (
    select
        *,
        -- Impact ratios are judged with the gaps.
        {{ permutations_for(
            "if(is_crossed, 2, 10) * count(*) filter (where comparison = 'against_reference') "
            ~ "over (partition by run_id, mitigation, is_crossed)"
        ) }} as n_permutations
    from compared
),

keyed_comparisons as (
    select
        {{ key_of(["contrast_id", "outcome", "domain"]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
