{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

-- Where nothing of the kind happened to anybody there is nothing to judge, nor a share of alpha to spend on it: that
-- depends on no label. fct_answer_gaps has its row even so.
comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_answers_gap_comparisons") }}
    where n_events > 0
),

gaps as (
    select *
    from {{ ref("int_answers_gaps") }}
),

group_carriers as (
    select
        run_id,
        attribute,
        bool_or(is_named) as is_named
    from {{ ref("int_group_carriers") }}
    group by run_id, attribute
),

measured as (
    select
        comparisons.*,
        gaps.adjusted_gap,
        gaps.adjusted_low,
        gaps.adjusted_high,
        gaps.null_mean,
        gaps.null_sd,
        gaps.p_value,
        gaps.n_permutations,
        gaps.seed,
        gaps.n_names,
        gaps.width_power,
        coalesce(group_carriers.is_named, false) as is_named,
        -- What the larger p or the longer interval rests on.
        'name' in (gaps.unit, gaps.width_unit) as is_by_name,
        100 * comparisons.n_marked_events / comparisons.n_marked as percent_marked,
        100 * comparisons.n_reference_events / comparisons.n_reference as percent_reference,
        case comparisons.reference_group
            when '(neutral)' then 'those about nobody in particular'
            when '(others)' then 'those about all others'
            else 'those about ' || comparisons.reference_group
        end as reference_answers
    from comparisons
    inner join gaps on comparisons.comparison_key = gaps.comparison_key
    left join group_carriers
        on
            comparisons.run_id = group_carriers.run_id
            and comparisons.attribute = group_carriers.attribute
),

answers_findings as (
    select
        run_id,
        variant,
        'answer_gap' as measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        case scheme
            when 'refused'
                then printf(
                    'of the answers about %s %.1f %% are refusals, and of %s %.1f %%',
                    group_name, percent_marked, reference_answers, percent_reference
                )
            when 'failed'
                then printf(
                    'of the questions about %s %.1f %% failed with an error, and of %s %.1f %%',
                    group_name, percent_marked, reference_answers, percent_reference
                )
            else printf(
                'of the answers about %s %.1f %% are malformed, unread, cut off or empty, and of %s %.1f %%',
                group_name, percent_marked, reference_answers, percent_reference
            )
        end
        || {{ percentage_points_within_strata("adjusted_gap", "(percent_marked - percent_reference) / 100") }}
        || if(has_later_attempts, ', at the first attempt', '')
        || if(has_pairs, printf(', over the same %d cases', n_cases), '')
        || if(unit = 'trial', ', asked in these words', '') as detail,
        case
            when isnan(p_value) then 'labels cannot be permuted, as no question was asked about both groups'
        end as detail_without_alarm,
        reading_hash,
        adjusted_gap as value,
        p_value,
        null_mean,
        null_sd,
        adjusted_low as interval_low,
        adjusted_high as interval_high,
        cast(
            case
                when is_by_name then n_names
                when unit = 'prompt' then least(n_marked_prompts, n_reference_prompts)
                else least(n_marked, n_reference)
            end as bigint
        ) as n_units,
        cast(
            if(
                unit = 'prompt', least(n_marked_prompts, n_reference_prompts), least(n_marked, n_reference)
            ) as bigint
        ) as n_sufficient,
        case
            when is_by_name then 'names a group'
            when unit = 'trial' then 'answers about each group'
            else 'prompts about each group'
        end as settled_by,
        width_power,
        -- Trials speak of the prompts that were asked, and of nobody else.
        case when unit = 'trial' then if(is_named, 'names', 'wording') end as scope,
        n_permutations,
        seed,
        is_crossed
    from measured
)

select * from answers_findings
