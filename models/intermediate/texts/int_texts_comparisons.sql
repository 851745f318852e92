with

units as (
    select *
    from {{ ref("int_texts_units") }}
),

settings as (
    select
        run_id,
        analysis ->> '$.texts.encoder.name' as encoder,
        analysis ->> '$.texts.encoder.hash' as encoder_hash,
        from_json(analysis -> 'texts' -> 'similarity', '["VARCHAR"]') as schemes
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.texts')
),

outcomes as (
    select *
    from {{ ref("int_texts_outcomes") }}
    where value is not null
),

measures as (
    select
        measure,
        only_where_found
    from {{ ref("measures") }}
),

of_runs as (
    select
        units.*,
        settings.encoder,
        settings.encoder_hash,
        settings.schemes,
        count(*) over (partition by units.contrast_id, units.label) as n_answers
    from units
    inner join settings on units.run_id = settings.run_id
),

measured as (
    select
        *,
        'similarity' as outcome,
        unnest(schemes) as scheme,
        unnest(range(len(schemes))) as place,
        cast(null as double) as outcome_value,
        1 as highest,
        false as only_where_found
    from of_runs
    where not is_repeated
    union all by name
    select
        of_runs.*,
        outcomes.outcome,
        'words' as scheme,
        0 as place,
        outcomes.value as outcome_value,
        outcomes.highest,
        measures.only_where_found
    from of_runs
    inner join outcomes on of_runs.text_key = outcomes.text_key
    inner join measures on outcomes.outcome || '_gap' = measures.measure
),

compared as (
    select
        contrast_id,
        run_id,
        mitigation,
        outcome,
        scheme,
        attribute,
        group_name,
        reference_group,
        is_crossed,
        if(scheme in ('encoder', 'encoder_centred'), encoder, null) as encoder,
        if(scheme in ('encoder', 'encoder_centred'), encoder_hash, null) as encoder_hash,
        -- The first similarity of the analysis is judged.
        place = 0 as is_judged,
        count(*) filter (where label = 1) as n_marked,
        count(*) filter (where label = 0) as n_reference,
        count(distinct coalesce(whole, gap_unit)) filter (where label = 1) as n_marked_units,
        count(distinct coalesce(whole, gap_unit)) filter (where label = 0) as n_reference_units,
        bool_and(gap_unit = prompt_id) as is_by_prompt,
        0 as outcome_lowest,
        greatest(max(highest), max(outcome_value)) as outcome_highest
    from measured
    group by all
    having
        count(distinct label) = 2
        -- A number that few answers have, such as an amount of money, is not the subject of the audit.
        and (
            not bool_or(only_where_found)
            or (
                2 * count(*) filter (where label = 1) > max(n_answers) filter (where label = 1)
                and 2 * count(*) filter (where label = 0) > max(n_answers) filter (where label = 0)
            )
        )
),

counted as (
    select
        *,
        count(*) filter (where is_judged) over (partition by run_id, mitigation, is_crossed) as n_together,
        if(is_judged, {{ permutations_for("if(is_crossed, 2, 10) * n_together") }}, 0) as n_permutations
    from compared
),

keyed_comparisons as (
    select
        {{ key_of(["contrast_id", "outcome", "scheme"]) }} as comparison_key,
        *,
        '' as domain,
        'against_reference' as comparison,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted
)

select * from keyed_comparisons
