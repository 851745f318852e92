with

growths as (
    select *
    from {{ ref("int_turn_slopes_growths") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_run_analysis_settings") }}
),

compared as (
    select
        contrast_id,
        run_id,
        mitigation,
        scheme,
        attribute,
        group_name,
        reference_group,
        is_crossed,
        is_by_prompt,
        count(*) filter (where label = 1) as n_marked,
        count(*) filter (where label = 0) as n_reference,
        count(distinct coalesce(whole, unit)) filter (where label = 1) as n_marked_units,
        count(distinct coalesce(whole, unit)) filter (where label = 0) as n_reference_units,
        max(abs(growth)) as highest
    from growths
    group by all
    having count(distinct label) = 2
),

counted as (
    select
        *,
        count(*) over (partition by run_id, mitigation, is_crossed) as n_together,
        {{ permutations_for("if(is_crossed, 2, 10) * n_together") }} as n_permutations
    from compared
),

keyed_comparisons as (
    select
        {{ key_of(["counted.contrast_id", "counted.scheme"]) }} as comparison_key,
        counted.*,
        run_analysis_settings.analysis_hash,
        counted.scheme as outcome,
        '' as domain,
        'against_reference' as comparison,
        -1 - counted.highest as outcome_lowest,
        1 + counted.highest as outcome_highest,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted
    inner join run_analysis_settings on counted.run_id = run_analysis_settings.run_id
)

select * from keyed_comparisons
