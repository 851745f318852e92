{{ config(materialized="by_run") }}

with

contrasts as (
    select *
    from {{ run_rows("int_answers_contrasts") }}
),

units as (
    select
        * exclude (n),
        unnest(['refused', 'unusable', 'failed']) as scheme,
        unnest([n, n, n_asked]) as n,
        unnest([n_refused, n_unusable, n_failed]) as total
    from {{ run_rows("int_answers_gap_units") }}
),

run_analysis_settings as (
    select
        run_id,
        coalesce(analysis ->> '$.answers.attempt', 'first') as judged_attempt
    from {{ ref("int_run_analysis_settings") }}
),

compared as (
    select
        contrast_id,
        scheme,
        bool_and(name is not null) as has_names,
        bool_or(has_pairs) as has_pairs,
        count(distinct subject_key) filter (where has_pairs) as n_cases,
        sum(n_first_of_several) > 0 as has_later_attempts,
        sum(total) as n_events,
        sum(total) filter (where label = 1) as n_marked_events,
        sum(total) filter (where label = 0) as n_reference_events,
        sum(n) filter (where label = 1) as n_marked,
        sum(n) filter (where label = 0) as n_reference,
        count(*) filter (where label = 1) as n_marked_prompts,
        count(*) filter (where label = 0) as n_reference_prompts,
        count(distinct coalesce(whole, prompt_id)) filter (where label = 1) as n_marked_wholes,
        count(distinct coalesce(whole, prompt_id)) filter (where label = 0) as n_reference_wholes,
        bool_and(person is not null) as are_people
    from units
    -- A question that never got an answer is left out.
    where n > 0
    group by contrast_id, scheme
),

described as (
    select
        contrasts.*,
        compared.scheme,
        compared.has_names,
        compared.has_pairs,
        compared.n_cases,
        compared.has_later_attempts,
        compared.n_events,
        compared.n_marked_events,
        compared.n_reference_events,
        compared.n_marked,
        compared.n_reference,
        compared.n_marked_prompts,
        compared.n_reference_prompts,
        compared.n_marked_wholes,
        compared.n_reference_wholes,
        compared.are_people,
        run_analysis_settings.judged_attempt
    from compared
    inner join contrasts on compared.contrast_id = contrasts.contrast_id
    inner join run_analysis_settings on contrasts.run_id = run_analysis_settings.run_id
),

counted_comparisons as (
    select
        *,
        greatest(
            1, count(*) filter (where n_events > 0) over (partition by run_id, mitigation, is_crossed)
        ) as n_together,
        -- All trials of a prompt move as one where both groups were asked several, as with words. Of fewer than five
        -- nothing can be said but what became of these: their trials move, whatever else the run compares.
        if(least(n_marked_prompts, n_reference_prompts) >= 5, 'prompt', 'trial') as unit,
        {{ permutations_for("if(is_crossed, 2, 10) * n_together") }} as n_permutations
    from described
    where
        n_marked > 0
        and n_reference > 0
),

keyed_comparisons as (
    select
        {{ key_of(["contrast_id", "scheme"]) }} as comparison_key,
        *,
        -- As for gaps of decisions: a share of answers, over all subjects.
        scheme as outcome,
        '' as domain,
        'against_reference' as comparison,
        0 as outcome_lowest,
        1 as outcome_highest,
        1 as n_candidates,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from counted_comparisons
)

select * from keyed_comparisons
