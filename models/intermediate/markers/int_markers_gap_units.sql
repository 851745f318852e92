with

markers_prompts as (
    select *
    from {{ ref("int_markers_prompts") }}
),

scores as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        scheme,
        ratio
    from {{ ref("int_markers_scores") }}
    where is_assessable
),

regard as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        scorer,
        negative
    from {{ ref("int_markers_regard") }}
    -- A classifier has too little to go by.
    where not is_short
),

outcomes as (
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        'stereotype_ratio' as outcome,
        scheme,
        ratio as outcome_value
    from scores
    union all by name
    select
        run_id,
        prompt_id,
        response_hash,
        category,
        'negative_regard' as outcome,
        scorer as scheme,
        negative as outcome_value
    from regard
),

placed as (
    select
        markers_prompts.run_id,
        markers_prompts.variant,
        outcomes.outcome,
        outcomes.scheme,
        outcomes.category as domain,
        markers_prompts.attribute,
        markers_prompts.group_name,
        markers_prompts.unit_kind,
        markers_prompts.stratum,
        concat_ws(' | ', outcomes.prompt_id, outcomes.response_hash) as text_unit,
        coalesce(markers_prompts.name_unit, text_unit) as unit,
        if(markers_prompts.unit_kind = 'names', markers_prompts.name_cluster, text_unit) as cluster,
        outcomes.outcome_value
    from markers_prompts
    inner join outcomes
        on
            markers_prompts.run_id = outcomes.run_id
            and markers_prompts.prompt_id = outcomes.prompt_id
),

units as (
    select
        run_id,
        variant,
        outcome,
        scheme,
        domain,
        attribute,
        group_name,
        unit_kind,
        stratum,
        unit,
        cluster,
        count(*) as n,
        sum(outcome_value order by text_unit) as total
    from placed
    group by
        run_id, variant, outcome, scheme, domain, attribute, group_name, unit_kind, stratum, unit, cluster
)

select * from units
