{{ config(materialized="by_run") }}

{%- set least = var("min_permutations") if var("permutations") else 0 %}
{%- set n_permutations = "coalesce(gaps.n_permutations, " ~ least ~ ")" %}

with

units as (
    select *
    from {{ run_rows("int_decisions_impact_units") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        is_crossed
    from {{ ref("int_run_attributes") }}
),

decisions_runs as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_decisions_runs") }}
),

compared as (
    select
        units.pool_key,
        units.run_id,
        units.mitigation,
        units.outcome,
        units.domain,
        units.attribute,
        '(all)' as group_name,
        '(best off)' as reference_group,
        run_attributes.is_crossed,
        decisions_runs.analysis_hash,
        bool_or(units.is_paired) as is_paired,
        bool_and(units.is_person) as are_people,
        count(distinct units.group_name) as n_groups,
        {{ fingerprint_of([
            "units.unit", "units.stratum", "units.group_name", "units.person_name", "units.name_stratum",
            "units.n_candidates", "units.n", "units.total", "units.n_unread",
        ]) }} as fingerprint
    from units
    inner join decisions_runs on units.run_id = decisions_runs.run_id
    inner join run_attributes
        on
            units.run_id = run_attributes.run_id
            and units.attribute = run_attributes.attribute
    group by all
    having
        count(distinct units.group_name) > 1
        -- Where nobody is selected there is no rate to divide by.
        and sum(units.total) > 0
),

gaps as (
    select
        run_id,
        mitigation,
        is_crossed,
        max(n_permutations) as n_permutations
    from {{ ref("int_decisions_comparisons") }}
    group by run_id, mitigation, is_crossed
),

keyed_comparisons as (
    select
        {{ key_of([
            "compared.run_id", "compared.mitigation", "compared.outcome", "compared.domain", "compared.attribute", "compared.analysis_hash",
            "compared.is_paired",
            n_permutations, "compared.fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        {{ contrast_id("compared") }} as contrast_id,
        compared.*,
        {{ n_permutations }} as n_permutations,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from compared
    left join gaps
        on
            compared.run_id = gaps.run_id
            and compared.mitigation = gaps.mitigation
            and compared.is_crossed = gaps.is_crossed
)

select * from keyed_comparisons
