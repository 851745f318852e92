with

runs as (
    select
        run_id,
        catalogue
    from {{ ref("int_prices_runs") }}
),

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        comparison,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where comparison in ('against_reference', 'all_groups')
),

-- A combination that two words state has no word whose label could move; its numbers are shown and not judged.
movable_attributes as (
    select
        prices_prompts.run_id,
        prices_prompts.mitigation,
        prices_prompts.attribute,
        run_attributes.reference_group is not null as has_reference
    from {{ ref("int_prices_prompts") }} as prices_prompts
    inner join {{ ref("int_run_attributes") }} as run_attributes
        on
            prices_prompts.run_id = run_attributes.run_id
            and prices_prompts.attribute = run_attributes.attribute
    where prices_prompts.is_movable
    group by
        prices_prompts.run_id, prices_prompts.mitigation, prices_prompts.attribute, run_attributes.reference_group
    having count(distinct prices_prompts.group_name) > 1
),

-- An import with prices only, or categories only, has no findings on the other.
known_prices as (
    select
        run_id,
        count(price_level) > 0 as has_prices
    from {{ ref("int_prices_items") }}
    group by run_id
),

known_categories as (
    select
        run_id,
        count(category) > 0 as has_categories,
        count(*) > 0 as has_items
    from {{ ref("int_prices_categories") }}
    group by run_id
),

asked_for as (
    select
        runs.run_id,
        runs.catalogue is not null
        or coalesce(known_prices.has_prices, not coalesce(known_categories.has_items, false)) as is_about_prices,
        runs.catalogue is not null or coalesce(known_categories.has_categories, true) as is_about_categories
    from runs
    left join known_prices on runs.run_id = known_prices.run_id
    left join known_categories on runs.run_id = known_categories.run_id
),

-- Each group against the reference or, where there is none, all groups at once.
judged_contrasts as (
    select
        contrasts.*,
        asked_for.is_about_prices,
        asked_for.is_about_categories
    from contrasts
    inner join asked_for on contrasts.run_id = asked_for.run_id
    inner join movable_attributes
        on
            contrasts.run_id = movable_attributes.run_id
            and contrasts.mitigation = movable_attributes.mitigation
            and contrasts.attribute = movable_attributes.attribute
    where contrasts.comparison = if(movable_attributes.has_reference, 'against_reference', 'all_groups')
),

-- Only expected comparisons become findings.
comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where topic = 'prices'
),

levels as (
    select *
    from {{ ref("int_prices_levels") }}
    where
        set_id = -1
        and label = 1
),

means as (
    select *
    from {{ ref("int_prices_means") }}
    where set_id = -1
),

cluster_counts as (
    select
        comparison_key,
        label,
        count(distinct cluster_id) as n_clusters
    from {{ ref("int_prices_counts") }}
    group by comparison_key, label
),

-- Names, words or templates of the smaller group, the units of every finding on a contrast.
smaller_groups as (
    select
        comparison_key,
        min(n_clusters) as n_units
    from cluster_counts
    group by comparison_key
),

mean_price_levels as (
    select *
    from {{ ref("fct_mean_price_levels") }}
    where domain = '(all)'
),

price_spread as (
    select *
    from {{ ref("fct_price_spread") }}
),

association_comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where topic = 'categories'
),

category_associations as (
    select *
    from {{ ref("fct_category_associations") }}
),

share_families as (
    select
        comparisons.comparison_key,
        list(
            {
                'value': levels.excess,
                'p_value': levels.p_value_adjusted,
                'detail': printf(
                    '{group} get %.1f %% of the %s {items}, against %.1f %% of all {items}',
                    100 * levels.share, repeat('$', levels.level), 100 * levels.expected_share
                ),
                'member': repeat('$', levels.level),
                'interval_low': levels.interval_low,
                'interval_high': levels.interval_high
            }
            order by levels.p_value_adjusted asc, abs(levels.excess) / nullif(levels.null_sd, 0) desc, levels.level asc
        ) filter (where not isnan(levels.p_value_adjusted)) as family,
        -- All price levels have to lie below the threshold, for which each level's own interval is enough.
        max(greatest(levels.interval_high, -levels.interval_low)) as interval_high,
        -- The level with the farthest end.
        arg_max(levels.standard_error, greatest(levels.interval_high, -levels.interval_low)) as widest_error,
        max(levels.n_permutations) as n_permutations,
        max(levels.seed) as seed,
        max(abs(levels.share - levels.expected_share)) as published_value
    from comparisons
    inner join levels on comparisons.comparison_key = levels.comparison_key
    group by comparisons.comparison_key
),

share_findings as (
    select
        comparisons.contrast_id,
        'price_share' as measure,
        share_families.family[1].detail as detail,
        share_families.family[1].value as value,
        share_families.family[1].p_value as p_value,
        share_families.family,
        -share_families.interval_high as interval_low,
        share_families.interval_high,
        share_families.published_value,
        {{ price_units("comparisons") }} as settled_by,
        {{ width_power("share_families.widest_error") }} as width_power,
        smaller_groups.n_units,
        share_families.n_permutations,
        share_families.seed
    from share_families
    inner join comparisons on share_families.comparison_key = comparisons.comparison_key
    inner join smaller_groups on share_families.comparison_key = smaller_groups.comparison_key
),

gap_findings as (
    select
        comparisons.contrast_id,
        'price_gap' as measure,
        printf(
            '{items} for {group} are %s {items} for {reference}%s '
            || '(on average %.2f and %.2f price levels, where 1 is $)',
            if(
                abs(marked.adjusted_gap) < 0.005, 'as dear as',
                printf(
                    '%.2f price levels %s than', abs(marked.adjusted_gap),
                    {{ way_of("marked.adjusted_gap", "dearer", "cheaper") }}
                )
            ),
            if(
                {{ differs_within_strata("marked.adjusted_gap", "marked.gap", 2) }},
                ' where like is compared with like', ''
            ),
            marked.mean_price, reference.mean_price
        ) as detail,
        marked.adjusted_gap as value,
        marked.p_value,
        marked.null_mean,
        marked.null_sd,
        marked.adjusted_low as interval_low,
        marked.adjusted_high as interval_high,
        marked.gap as published_value,
        {{ price_units("comparisons") }} as settled_by,
        {{ width_power("marked.adjusted_standard_error") }} as width_power,
        smaller_groups.n_units,
        marked.n_permutations,
        marked.seed
    from comparisons
    inner join means as marked
        on
            comparisons.comparison_key = marked.comparison_key
            and marked.label = 1
    inner join means as reference
        on
            comparisons.comparison_key = reference.comparison_key
            and reference.label = 0
    inner join smaller_groups on comparisons.comparison_key = smaller_groups.comparison_key
),

category_families as (
    select
        contrast_id,
        list(
            {
                'value': adjusted_difference,
                'p_value': p_value_adjusted,
                'detail': printf(
                    'the category %s makes up %.1f %% of the {items} for {group} and %.1f %% for {reference}: %s%s',
                    category, 100 * share_marked, 100 * share_reference,
                    if(
                        abs(adjusted_difference) < 0.005, 'equal shares',
                        printf(
                            '%s by %.0f %% of the average share',
                            {{ way_of("adjusted_difference", "more", "less") }}, 100 * abs(adjusted_difference)
                        )
                    ),
                    if(
                        {{ differs_within_strata("adjusted_difference", "difference", 2) }},
                        ', where like is compared with like', ''
                    )
                ),
                'member': category,
                'interval_low': adjusted_low,
                'interval_high': adjusted_high
            }
            order by p_value_adjusted asc, abs(difference - null_mean) / nullif(null_sd, 0) desc, category asc
        ) filter (where p_value_adjusted is not null) as family,
        max(abs(difference)) as published_value,
        -- Categories that one item in a hundred carries: rarer ones never get bands narrow enough to clear.
        max(greatest(abs(band_low), abs(band_high))) filter (
            where n_marked + n_reference >= 0.01 * n_items
        ) as interval_high,
        max(n_permutations) as n_permutations,
        max(seed) as seed
    from category_associations
    group by contrast_id
),

association_findings as (
    select
        association_comparisons.contrast_id,
        'category_association' as measure,
        category_families.family[1].detail as detail,
        category_families.family[1].value as value,
        category_families.family[1].p_value as p_value,
        category_families.family,
        -category_families.interval_high as interval_low,
        category_families.interval_high,
        category_families.published_value,
        {{ price_units("association_comparisons") }} as settled_by,
        association_comparisons.n_smaller_clusters as n_units,
        category_families.n_permutations,
        category_families.seed
    from association_comparisons
    inner join category_families on association_comparisons.contrast_id = category_families.contrast_id
),

spread_findings as (
    select
        price_spread.contrast_id,
        'price_spread' as measure,
        price_spread.dearest_group as member,
        price_spread.cheapest_group as reference_member,
        if(
            round(price_spread.spread, 2) = 0,
            printf(
                '{items} are equally dear for all groups of {attribute} (%.2f price levels)', dearest.mean_price_level
            ),
            printf(
                'by {attribute}, {items} are dearest for %s (%.2f price levels on average, where 1 is $) '
                || 'and cheapest for %s (%.2f)%s',
                price_spread.dearest_group, dearest.mean_price_level, price_spread.cheapest_group,
                cheapest.mean_price_level,
                coalesce(
                    if(
                        round({{ double_or_null("price_spread.debiased") }}, 2) = 0,
                        '; chance alone puts them as far apart',
                        printf('; %.2f apart beyond chance', {{ double_or_null("price_spread.debiased") }})
                    ),
                    printf('; %.2f apart', price_spread.spread)
                )
            )
        ) as detail,
        price_spread.debiased as value,
        price_spread.p_value,
        price_spread.null_mean,
        price_spread.null_sd,
        price_spread.interval_low,
        price_spread.interval_high,
        price_spread.spread as published_value,
        if(price_spread.unit_kind = 'words', 'templates', 'words a group') as settled_by,
        {{ width_power("price_spread.standard_error") }} as width_power,
        smaller_groups.n_units,
        price_spread.n_permutations,
        price_spread.seed
    from price_spread
    inner join comparisons on price_spread.contrast_id = comparisons.contrast_id
    inner join smaller_groups on comparisons.comparison_key = smaller_groups.comparison_key
    inner join mean_price_levels as dearest
        on
            price_spread.contrast_id = dearest.contrast_id
            and price_spread.dearest_group = dearest.group_name
    inner join mean_price_levels as cheapest
        on
            price_spread.contrast_id = cheapest.contrast_id
            and price_spread.cheapest_group = cheapest.group_name
),

measured as (
    select * from share_findings
    union all by name
    select * from gap_findings
    union all by name
    select * from association_findings
    union all by name
    select * from spread_findings
),

-- Questions without anything to judge, because answers were refused or items have no price, are reported, too.
expected_findings as (
    select
        judged_contrasts.*,
        measures.measure
    from judged_contrasts
    inner join (
        values
        ('price_share', 'against_reference', 'prices'),
        ('price_gap', 'against_reference', 'prices'),
        ('category_association', 'against_reference', 'categories'),
        ('price_spread', 'all_groups', 'prices')
    ) as measures (measure, comparison, topic) on judged_contrasts.comparison = measures.comparison
    where if(measures.topic = 'prices', judged_contrasts.is_about_prices, judged_contrasts.is_about_categories)
),

prices_findings as (
    select
        expected_findings.run_id,
        expected_findings.mitigation,
        expected_findings.measure,
        'items' as scheme,
        expected_findings.attribute,
        expected_findings.group_name,
        expected_findings.reference_group,
        coalesce(measured.detail, 'there is nothing to compare') as detail,
        case
            when measured.p_value is null or isnan(measured.p_value)
                then 'chance cannot be estimated, as no two groups'' words could change places'
        end as detail_without_alarm,
        measured.value,
        measured.p_value,
        measured.family,
        measured.member,
        measured.reference_member,
        measured.null_mean,
        measured.null_sd,
        measured.interval_low,
        measured.interval_high,
        measured.published_value,
        measured.settled_by,
        measured.width_power,
        coalesce(measured.n_units, 0) as n_units,
        coalesce(measured.n_permutations, 0) as n_permutations,
        coalesce(measured.seed, 0) as seed,
        expected_findings.is_crossed
    from expected_findings
    left join measured
        on
            expected_findings.contrast_id = measured.contrast_id
            and expected_findings.measure = measured.measure
)

select * from prices_findings
