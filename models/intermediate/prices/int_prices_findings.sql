with

comparisons as (
    select
        run_id,
        variant,
        attribute,
        groups[1] as reference_group,
        n_groups,
        reading_hash
    from {{ ref("int_prices_comparisons") }}
    -- A combination that two words state has no word whose label could move; its numbers are shown and not judged.
    where
        has_reference
        and is_movable
),

reading_hashes as (
    select
        run_id,
        reading_hash
    from {{ ref("int_prices_runs") }}
),

price_levels as (
    select *
    from {{ ref("fct_price_levels") }}
    where domain = '(all)'
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

category_associations as (
    select *
    from {{ ref("fct_category_associations") }}
),

association_comparisons as (
    select *
    from {{ ref("int_prices_association_comparisons") }}
),

compared_levels as (
    select
        price_levels.*,
        -- Of two groups one has what the other lacks; of more, each is held against all of them.
        if(comparisons.n_groups = 2, comparisons.reference_group, '(all)') as reference_group,
        comparisons.reading_hash
    from price_levels
    inner join comparisons
        on
            price_levels.run_id = comparisons.run_id
            and price_levels.variant = comparisons.variant
            and price_levels.attribute = comparisons.attribute
    where
        comparisons.n_groups > 2
        or not price_levels.is_reference
),

share_families as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        any_value(reading_hash) as reading_hash,
        list(
            {
                'value': excess,
                'p_value': p_value_adjusted,
                'detail': printf(
                    '%s gets %.1f %% of the items at %s where %.1f %% are its share by chance',
                    group_name, 100 * share, repeat('$', price_level), 100 * null_mean
                )
            }
            order by p_value_adjusted asc, abs(excess) / null_sd desc, price_level asc
        ) filter (where p_value_adjusted is not null) as family,
        -- All price levels have to lie below the threshold, for which each level's own interval is enough.
        max(greatest(interval_high, -interval_low)) as interval_high,
        min(n_clusters) as n_units,
        max(n_permutations) as n_permutations,
        max(seed) as seed,
        max(abs(excess)) as published_value,
        bool_or(is_crossed) as is_crossed
    from compared_levels
    group by run_id, variant, attribute, group_name, reference_group
),

share_findings as (
    select
        run_id,
        variant,
        'price_share' as measure,
        attribute,
        group_name,
        reference_group,
        '' as subject,
        family[1].detail as detail,
        detail as detail_without_alarm,
        reading_hash,
        family[1].value as value,
        family[1].p_value as p_value,
        family,
        cast(null as double) as null_mean,
        cast(null as double) as null_sd,
        cast(null as double) as standard_error,
        -interval_high as interval_low,
        interval_high,
        published_value,
        n_units,
        n_permutations,
        seed,
        is_crossed
    from share_families
),

gap_findings as (
    select
        marked.run_id,
        marked.variant,
        'price_gap' as measure,
        marked.attribute,
        marked.group_name,
        reference.group_name as reference_group,
        '' as subject,
        printf(
            'items for %s have a mean price level of %.3f and for %s of %.3f',
            marked.group_name, marked.mean_price_level, reference.group_name, reference.mean_price_level
        ) as detail,
        detail as detail_without_alarm,
        comparisons.reading_hash,
        marked.gap as value,
        marked.p_value,
        marked.null_mean,
        marked.null_sd,
        marked.gap_standard_error as standard_error,
        marked.gap_low as interval_low,
        marked.gap_high as interval_high,
        cast(null as double) as published_value,
        least(marked.n_clusters, reference.n_clusters) as n_units,
        marked.n_permutations,
        marked.seed,
        marked.is_crossed
    from mean_price_levels as marked
    inner join mean_price_levels as reference
        on
            marked.run_id = reference.run_id
            and marked.variant = reference.variant
            and marked.attribute = reference.attribute
            and reference.is_reference
    inner join comparisons
        on
            marked.run_id = comparisons.run_id
            and marked.variant = comparisons.variant
            and marked.attribute = comparisons.attribute
    where not marked.is_reference
),

spread_findings as (
    select
        price_spread.run_id,
        price_spread.variant,
        'price_spread' as measure,
        price_spread.attribute,
        '(all)' as group_name,
        '(all)' as reference_group,
        '' as subject,
        printf(
            'the mean price level is highest for %s (%.2f) and lowest for %s (%.2f), %.2f apart; chance gives %.2f',
            price_spread.dearest_group, dearest.mean_price_level, price_spread.cheapest_group,
            cheapest.mean_price_level, price_spread.spread, price_spread.null_mean
        ) as detail,
        detail as detail_without_alarm,
        reading_hashes.reading_hash,
        price_spread.debiased as value,
        price_spread.p_value,
        price_spread.null_mean,
        price_spread.null_sd,
        price_spread.standard_error,
        price_spread.interval_low,
        price_spread.interval_high,
        price_spread.spread as published_value,
        price_spread.n_clusters as n_units,
        price_spread.n_permutations,
        price_spread.seed,
        price_spread.is_crossed
    from price_spread
    inner join mean_price_levels as dearest
        on
            price_spread.run_id = dearest.run_id
            and price_spread.variant = dearest.variant
            and price_spread.attribute = dearest.attribute
            and price_spread.dearest_group = dearest.group_name
    inner join mean_price_levels as cheapest
        on
            price_spread.run_id = cheapest.run_id
            and price_spread.variant = cheapest.variant
            and price_spread.attribute = cheapest.attribute
            and price_spread.cheapest_group = cheapest.group_name
    inner join reading_hashes on price_spread.run_id = reading_hashes.run_id
),

counted_associations as (
    select
        *,
        count(*) filter (where is_associated) over (
            partition by run_id, variant, attribute, group_name, reference_group
        ) as n_associated
    from category_associations
),

category_families as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        list(
            {
                'value': difference,
                'p_value': p_value_adjusted,
                'detail': printf(
                    'the association score of %s is %+.2f for %s against %s (of %d categories more than by chance)',
                    category, difference, group_name, reference_group, n_associated
                )
            }
            order by p_value_adjusted asc, abs(difference - null_mean) / null_sd desc, category asc
        ) filter (where p_value_adjusted is not null) as family,
        max(abs(difference)) as published_value,
        -- Categories that one item in a hundred carries: rarer ones never get bands narrow enough to clear.
        max(greatest(abs(band_low), abs(band_high))) filter (
            where n_marked + n_reference >= 0.01 * n_items
        ) as interval_high,
        max(n_permutations) as n_permutations,
        max(seed) as seed
    from counted_associations
    group by run_id, variant, attribute, group_name, reference_group
),

association_findings as (
    select
        association_comparisons.run_id,
        association_comparisons.variant,
        'category_association' as measure,
        association_comparisons.attribute,
        association_comparisons.group_name,
        association_comparisons.reference_group,
        '' as subject,
        category_families.family[1].detail as detail,
        detail as detail_without_alarm,
        association_comparisons.reading_hash,
        category_families.family[1].value as value,
        category_families.family[1].p_value as p_value,
        category_families.family,
        cast(null as double) as null_mean,
        cast(null as double) as null_sd,
        cast(null as double) as standard_error,
        -category_families.interval_high as interval_low,
        category_families.interval_high,
        category_families.published_value,
        least(association_comparisons.n_marked_units, association_comparisons.n_reference_units) as n_units,
        category_families.n_permutations,
        category_families.seed,
        association_comparisons.is_crossed
    from association_comparisons
    inner join category_families
        on
            association_comparisons.run_id = category_families.run_id
            and association_comparisons.variant = category_families.variant
            and association_comparisons.attribute = category_families.attribute
            and association_comparisons.group_name = category_families.group_name
            and association_comparisons.reference_group = category_families.reference_group
),

measured as (
    select * from share_findings
    union all by name
    select * from gap_findings
    union all by name
    select * from spread_findings
    union all by name
    select * from association_findings
),

prices_findings as (
    select
        run_id,
        variant,
        measure,
        'items' as scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        detail,
        case
            when p_value is null
                then 'labels cannot be permuted, as no two groups'' words could change places'
            else detail_without_alarm
        end as detail_without_alarm,
        reading_hash,
        value,
        p_value,
        null_mean,
        null_sd,
        standard_error,
        interval_low,
        interval_high,
        -- Of families the widest member decides, of the other measures the arm that points away from nought.
        if(measure in ('category_association', 'price_share'), 0, value) as centre,
        case
            when measure = 'price_spread' then interval_high - value
            when measure in ('category_association', 'price_share') then interval_high
            else greatest(interval_high - value, value - interval_low)
        end as half_width,
        published_value,
        family,
        n_units,
        n_permutations,
        seed,
        is_crossed
    from measured
)

select * from prices_findings
