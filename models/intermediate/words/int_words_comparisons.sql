with

contrasts as (
    select *
    from {{ ref("int_contrasts") }}
),

words_schemes as (
    {{ schemes_of_runs() }}
),

run_analysis_settings as (
    select
        run_id,
        analysis -> 'words' ->> 'weighting' as weighting
    from {{ ref("int_run_analysis_settings") }}
),

comparison_units as (
    select
        contrast_id,
        scheme,
        any_value(moves_prompts) as moves_prompts,
        -- The permuted unit: people or prompts with all their answers, or single answers.
        cast(
            if(
                any_value(moves_prompts),
                count(distinct coalesce(person, paired_cluster, prompt_id)) filter (where label <> 0),
                sum(greatest(round(n_trials), 1)) filter (where label <> 0)
            ) as bigint
        ) as n_marked_units,
        cast(
            if(
                any_value(moves_prompts),
                count(distinct coalesce(person, paired_cluster, prompt_id)) filter (where label = 0),
                sum(greatest(round(n_trials), 1)) filter (where label = 0)
            ) as bigint
        ) as n_reference_units,
        sum(n_responses) as n_responses
    from {{ ref("int_words_comparison_units") }}
    group by contrast_id, scheme
),

judged_together as (
    select
        run_id,
        mitigation,
        is_crossed,
        count(*) as n_contrasts
    from contrasts
    where comparison = 'against_reference'
    group by run_id, mitigation, is_crossed
),

words_comparisons as (
    select
        contrasts.*,
        words_schemes.scheme,
        words_schemes.is_judged,
        coalesce(run_analysis_settings.weighting, 'tfidf') as weighting,
        coalesce(comparison_units.moves_prompts, false) as moves_prompts,
        coalesce(comparison_units.n_marked_units, 0) as n_marked_units,
        coalesce(comparison_units.n_reference_units, 0) as n_reference_units,
        coalesce(comparison_units.n_responses, 0) as n_responses,
        -- Three measures judge a group against the reference, and lengths give a warning. Other tests judge nothing:
        -- two groups without the reference, all groups at once, keys. Other schemes only give their published numbers.
        case
            when words_schemes.is_judged and contrasts.comparison = 'against_reference'
                then {{ permutations_for(
                    "if(contrasts.is_crossed, 2, 10) * 3 * judged_together.n_contrasts"
                ) }}
            when words_schemes.is_judged or words_schemes.scheme = 'keys'
                then {{ permutations_of_a_description() }}
            else 0
        end as n_permutations
    from contrasts
    -- For intersections the sources publish only the accuracy of classifying all of them.
    inner join words_schemes
        on
            contrasts.run_id = words_schemes.run_id
            and (
                words_schemes.is_judged
                or not contrasts.is_crossed
                or (contrasts.comparison = 'all_groups' and words_schemes.scheme = 'reference_vectors')
            )
    inner join run_analysis_settings on contrasts.run_id = run_analysis_settings.run_id
    left join comparison_units
        on
            contrasts.contrast_id = comparison_units.contrast_id
            and words_schemes.scheme = comparison_units.scheme
    left join judged_together
        on
            contrasts.run_id = judged_together.run_id
            and contrasts.mitigation = judged_together.mitigation
            and contrasts.is_crossed = judged_together.is_crossed
    {% if not var("all_groups") %}
    where contrasts.comparison <> 'all_groups'
    {% endif %}
),

keyed_comparisons as (
    select
        {{ key_of(["contrast_id", "scheme"]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from words_comparisons
)

select * from keyed_comparisons
