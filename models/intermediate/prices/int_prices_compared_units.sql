{%- set runs = new_runs(ref("int_prices_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_prices_runs") }}

with

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        groups
    from {{ ref("int_prices_contrasts") }}
    where {{ is_of_runs("run_id", runs) }}
),

units as (
    select *
    from {{ ref("int_prices_units") }}
    where {{ is_of_runs("run_id", runs) }}
),

-- A domain in which one group has no items says nothing about the difference.
compared_units as (
    select
        contrasts.contrast_id,
        contrasts.run_id,
        units.run_state,
        units.label_group,
        units.block_group,
        units.unit,
        units.stratum,
        units.cluster,
        units.domain,
        units.question,
        units.price_level,
        units.n
    from contrasts
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.mitigation = units.mitigation
            and contrasts.attribute = units.attribute
    where list_contains(contrasts.groups, units.group_name)
    qualify
        count(distinct units.group_name) over (partition by contrasts.contrast_id, units.domain)
        = len(contrasts.groups)
)

select * from compared_units
