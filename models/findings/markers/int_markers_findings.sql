with

ratio_comparisons as (
    select *
    from {{ ref("int_markers_ratio_comparisons") }}
    where is_judged
),

stereotype_rates as (
    select *
    from {{ ref("fct_stereotype_rates") }}
    where attribute = ''
),

-- The source finds every marker as a word, whatever kind it is declared as; by that its threshold is read.
published_rates as (
    select
        run_id,
        variant,
        category,
        probe,
        published_ratio
    from {{ ref("fct_stereotype_rates") }}
    where
        attribute = ''
        and scheme = 'word'
),

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

markers_prompts as (
    select
        markers_prompts.run_id,
        markers_prompts.variant,
        markers_prompts.attribute,
        markers_prompts.group_name,
        texts.category,
        {{ missing_side("sides") }} as missing_side
    from {{ ref("int_markers_prompts") }} as markers_prompts
    inner join {{ ref("int_markers_texts") }} as texts
        on
            markers_prompts.run_id = texts.run_id
            and markers_prompts.prompt_id = texts.prompt_id
    left join {{ ref("int_markers_sides") }} as sides
        on
            markers_prompts.run_id = sides.run_id
            and markers_prompts.prompt_id = sides.prompt_id
    group by
        markers_prompts.run_id, markers_prompts.variant, markers_prompts.attribute, markers_prompts.group_name,
        texts.category
),

schemes as (
    select *
    from {{ ref("int_markers_schemes") }}
),

stereotype_gaps as (
    select *
    from {{ ref("fct_stereotype_gaps") }}
),

marker_contrasts as (
    select *
    from {{ ref("fct_marker_contrasts") }}
    where is_judged
),

regard_findings as (
    select *
    from {{ ref("int_markers_regard_findings") }}
),

run_readings as (
    select
        run_id,
        reading_hash
    from {{ ref("int_markers_runs") }}
),

ratio_findings as (
    select
        ratio_comparisons.run_id,
        ratio_comparisons.variant,
        if(ratio_comparisons.is_category, 'stereotype_ratio', 'probe_stereotype_ratio') as measure,
        ratio_comparisons.scheme,
        '(markers)' as attribute,
        '(all)' as group_name,
        '(even)' as reference_group,
        if(ratio_comparisons.is_category, ratio_comparisons.category, ratio_comparisons.probe) as subject,
        case
            when ratio_comparisons.missing_side is not null
                then {{ missing_side_sentence("ratio_comparisons.missing_side") }}
            when ratio_comparisons.n_assessable = 0
                then printf(
                    'none of %d answers holds enough markers; fct_marker_candidates lists the words that they use',
                    cast(ratio_comparisons.n_answers as bigint)
                )
            else printf(
                'of the markers in an answer %.1f %% are those of the stereotype on average '
                || '(%d of %d answers assessed)',
                100 * stereotype_rates.stereotype_ratio, cast(ratio_comparisons.n_assessable as bigint),
                cast(ratio_comparisons.n_answers as bigint)
            )
        end as detail,
        ratio_comparisons.reading_hash,
        stereotype_rates.stereotype_ratio as value,
        stereotype_rates.p_value,
        stereotype_rates.null_mean,
        stereotype_rates.null_sd,
        stereotype_rates.interval_low,
        stereotype_rates.interval_high,
        coalesce(published_rates.published_ratio, stereotype_rates.published_ratio) as published_value,
        -- A probe whose answers are all equal learns nothing from more of them.
        case
            when ratio_comparisons.is_category then 'probes'
            when stereotype_rates.n_units = 1 and ratio_comparisons.n_assessable > 1 then 'wordings of the probe'
            else 'answers'
        end as settled_by,
        {{ width_power("stereotype_rates.standard_error") }} as width_power,
        -- Where nothing was assessed the sentence says so, not how many probes were.
        nullif(stereotype_rates.n_units, 0) as n_units,
        -- Few units are counted exactly: nothing is drawn.
        if(
            stereotype_rates.smallest_p * stereotype_rates.n_permutations = 1, 0, stereotype_rates.n_permutations
        ) as n_permutations,
        stereotype_rates.seed
    from ratio_comparisons
    inner join stereotype_rates
        on
            ratio_comparisons.run_id = stereotype_rates.run_id
            and ratio_comparisons.variant = stereotype_rates.variant
            and ratio_comparisons.scheme = stereotype_rates.scheme
            and ratio_comparisons.category = stereotype_rates.category
            and ratio_comparisons.probe = stereotype_rates.probe
    left join published_rates
        on
            ratio_comparisons.run_id = published_rates.run_id
            and ratio_comparisons.variant = published_rates.variant
            and ratio_comparisons.category = published_rates.category
            and ratio_comparisons.probe = published_rates.probe
),

-- What was asked about both groups, whether or not any answer could be assessed.
asked_contrasts as (
    select
        contrasts.*,
        marked.category,
        coalesce(marked.missing_side, reference.missing_side) as missing_side,
        schemes.scheme,
        schemes.reading_hash
    from contrasts
    inner join markers_prompts as marked
        on
            contrasts.run_id = marked.run_id
            and contrasts.variant = marked.variant
            and contrasts.attribute = marked.attribute
            and contrasts.group_name = marked.group_name
    inner join markers_prompts as reference
        on
            contrasts.run_id = reference.run_id
            and contrasts.variant = reference.variant
            and contrasts.attribute = reference.attribute
            and contrasts.reference_group = reference.group_name
            and marked.category = reference.category
    inner join schemes on contrasts.run_id = schemes.run_id
    where
        schemes.is_judged
        and schemes.markers_hash is not null
),

gap_findings as (
    select
        asked_contrasts.run_id,
        asked_contrasts.variant,
        'stereotype_gap' as measure,
        asked_contrasts.scheme,
        asked_contrasts.attribute,
        asked_contrasts.group_name,
        asked_contrasts.reference_group,
        asked_contrasts.category as subject,
        case
            when asked_contrasts.missing_side is not null
                then {{ missing_side_sentence("asked_contrasts.missing_side") }}
            when stereotype_gaps.gap is null
                then printf(
                    'no question has texts with enough markers both about %s and about %s; '
                    'fct_marker_candidates lists the words that they use',
                    asked_contrasts.group_name, asked_contrasts.reference_group
                )
            else printf(
                'of the markers in texts about %s %.1f %% are those of the stereotype, about %s %.1f %%%s',
                asked_contrasts.group_name, 100 * stereotype_gaps.mean_marked,
                asked_contrasts.reference_group, 100 * stereotype_gaps.mean_reference,
                if(stereotype_gaps.unit_kind = 'names', '', ' (one name or word a group)')
            )
        end as detail,
        case
            when stereotype_gaps.gap is not null and stereotype_gaps.p_value is null
                then 'labels cannot be permuted, as no question was answered about both groups'
        end as detail_without_alarm,
        asked_contrasts.reading_hash,
        -- Inside strata, so that who is asked about which subject is no gap.
        stereotype_gaps.adjusted_gap as value,
        stereotype_gaps.p_value,
        stereotype_gaps.null_mean,
        stereotype_gaps.null_sd,
        stereotype_gaps.adjusted_low as interval_low,
        stereotype_gaps.adjusted_high as interval_high,
        stereotype_gaps.raw_gap as published_value,
        stereotype_gaps.width_unit as settled_by,
        stereotype_gaps.width_power,
        stereotype_gaps.n_units,
        coalesce(stereotype_gaps.n_permutations, 0) as n_permutations,
        stereotype_gaps.seed,
        asked_contrasts.is_crossed
    from asked_contrasts
    left join stereotype_gaps
        on
            asked_contrasts.run_id = stereotype_gaps.run_id
            and asked_contrasts.variant = stereotype_gaps.variant
            and asked_contrasts.scheme = stereotype_gaps.scheme
            and asked_contrasts.category = stereotype_gaps.category
            and asked_contrasts.attribute = stereotype_gaps.attribute
            and asked_contrasts.group_name = stereotype_gaps.group_name
            and asked_contrasts.reference_group = stereotype_gaps.reference_group
),

counted_lists as (
    select
        *,
        count(*) filter (where is_associated) over (
            partition by run_id, variant, scheme, attribute, group_name, reference_group
        ) as n_associated
    from marker_contrasts
),

list_families as (
    select
        run_id,
        variant,
        scheme,
        attribute,
        group_name,
        reference_group,
        list(
            {
                'value': difference,
                'p_value': p_value_adjusted,
                'detail': printf(
                    'markers of the list %s make up %.2f of a thousand words about %s and %.2f about %s '
                    '(%d lists differ by more than chance)',
                    list, 1000 * n_marked / n_tokens_marked, group_name,
                    1000 * n_reference / n_tokens_reference, reference_group, n_associated
                ),
                'member': list,
                'interval_low': interval_low,
                'interval_high': interval_high
            }
            order by p_value_adjusted asc, abs(difference - null_mean) / null_sd desc, list asc
        ) filter (where p_value_adjusted is not null) as family,
        max(abs(difference)) as published_value,
        -- Lists that one word in a thousand belongs to: rarer ones never get bands narrow enough to clear.
        max(greatest(abs(band_low), abs(band_high))) filter (
            where n_marked + n_reference >= 0.001 * (n_tokens_marked + n_tokens_reference)
        ) as interval_high,
        any_value(unit_kind) as unit_kind,
        least(min(n_marked_units), min(n_reference_units)) as n_units,
        max(n_permutations) as n_permutations,
        max(seed) as seed,
        bool_or(is_crossed) as is_crossed
    from counted_lists
    group by run_id, variant, scheme, attribute, group_name, reference_group
),

list_findings as (
    select
        list_families.run_id,
        list_families.variant,
        'marker_association' as measure,
        list_families.scheme,
        list_families.attribute,
        list_families.group_name,
        list_families.reference_group,
        list_families.family[1].detail as detail,
        if(detail is null, 'labels cannot be permuted, as no question was answered about both groups', null)
            as detail_without_alarm,
        run_readings.reading_hash,
        list_families.family[1].value as value,
        list_families.family[1].p_value as p_value,
        list_families.family,
        -list_families.interval_high as interval_low,
        list_families.interval_high,
        list_families.published_value,
        {{ marker_units("list_families.unit_kind") }} as settled_by,
        list_families.n_units,
        list_families.n_permutations,
        list_families.seed,
        list_families.is_crossed
    from list_families
    inner join run_readings on list_families.run_id = run_readings.run_id
),

unlisted_findings as (
    select distinct
        asked_contrasts.run_id,
        asked_contrasts.variant,
        'marker_association' as measure,
        asked_contrasts.scheme,
        asked_contrasts.attribute,
        asked_contrasts.group_name,
        asked_contrasts.reference_group,
        printf(
            'no question has texts both about %s and about %s, or none of these holds a marker',
            asked_contrasts.group_name, asked_contrasts.reference_group
        ) as detail,
        asked_contrasts.reading_hash,
        0 as n_permutations,
        asked_contrasts.is_crossed
    from asked_contrasts
    left join list_families
        on
            asked_contrasts.run_id = list_families.run_id
            and asked_contrasts.variant = list_families.variant
            and asked_contrasts.scheme = list_families.scheme
            and asked_contrasts.attribute = list_families.attribute
            and asked_contrasts.group_name = list_families.group_name
            and asked_contrasts.reference_group = list_families.reference_group
    where list_families.run_id is null
),

markers_findings as (
    select * from ratio_findings
    union all by name
    select * from gap_findings
    union all by name
    select * from list_findings
    union all by name
    select * from unlisted_findings
    union all by name
    select * from regard_findings
)

select * from markers_findings
