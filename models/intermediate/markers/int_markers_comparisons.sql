with

contrasts as (
    select *
    from {{ ref("int_contrasts") }}
),

schemes as (
    select *
    from {{ ref("int_markers_schemes") }}
),

units as (
    select *
    from {{ ref("int_markers_units") }}
),

texts as (
    select *
    from {{ ref("int_markers_texts") }}
    where markers_hash is not null
),

ratio_units as (
    select *
    from {{ ref("int_markers_ratio_units") }}
),

families as (
    select
        run_id,
        mitigation,
        n_permutations
    from {{ ref("int_markers_families") }}
),

-- Gaps between the two groups of a contrast, and lists of markers that one of them gets more of.
gaps_and_lists as (
    select
        if(units.outcome = 'list', 'list', 'gap') as kind,
        units.units_key,
        contrasts.*,
        units.outcome,
        units.scheme,
        units.category,
        units.unit_kind,
        -- Scores are all judged that are compared, of the schemes the first.
        units.outcome not in ('stereotype_ratio', 'list') or coalesce(schemes.is_judged, false) as is_judged,
        list_sort(list(distinct units.list) filter (where units.list is not null)) as categories,
        count(distinct coalesce(units.name, units.unit)) filter (
            where units.is_marked and (units.n > 0 or units.outcome = 'list')
        ) as n_marked_units,
        count(distinct coalesce(units.name, units.unit)) filter (
            where not units.is_marked and (units.n > 0 or units.outcome = 'list')
        ) as n_reference_units,
        sum(units.n_answers) filter (where units.is_marked) as n_marked,
        sum(units.n_answers) filter (where not units.is_marked) as n_reference,
        sum(units.total_of_answers order by units.unit) filter (where units.is_marked) / n_marked
        - sum(units.total_of_answers order by units.unit) filter (where not units.is_marked) / n_reference as raw_gap,
        -- Shifted by their questions, a name's texts may have values outside the range of a single text.
        least(0, min(units.total / units.n) filter (where units.n > 0)) as outcome_lowest,
        greatest(1, max(units.total / units.n) filter (where units.n > 0)) as outcome_highest
    from units
    inner join contrasts on units.contrast_id = contrasts.contrast_id
    left join schemes
        on
            contrasts.run_id = schemes.run_id
            and units.scheme = schemes.scheme
    group by all
),

-- Each text counts for its probe and for its category.
subjects as (
    select
        *,
        false as is_category
    from texts
    where probe <> ''
    union all by name
    select
        * replace ('(all)' as probe),
        true as is_category
    from texts
),

-- All questions, whether or not any answer could be assessed.
asked as (
    select
        run_id,
        mitigation,
        category,
        probe,
        is_category,
        {{ missing_side("subjects") }} as missing_side,
        bool_and(is_named) as is_named,
        -- If some are neutral, only those are counted.
        if(bool_and(is_named), count(*), count(*) filter (where not is_named)) as n_texts,
        if(bool_and(is_named), sum(n_answers), sum(n_answers) filter (where not is_named)) as n_answers
    from subjects
    group by run_id, mitigation, category, probe, is_category
),

ratio_totals as (
    select
        units_key,
        sum(n) as n_assessable
    from ratio_units
    group by units_key
),

asked_of_schemes as (
    select
        asked.run_id,
        asked.mitigation,
        asked.category,
        asked.probe,
        asked.is_category,
        asked.missing_side,
        asked.n_answers,
        schemes.scheme,
        -- If persons are named, their groups are compared instead; a probe needs more than one answer.
        schemes.is_judged and not asked.is_named and (asked.is_category or asked.n_texts > 1) as is_judged
    from asked
    inner join schemes on asked.run_id = schemes.run_id
),

keyed_ratios as (
    select
        *,
        {{ ratio_key() }} as units_key
    from asked_of_schemes
),

compared as (
    select *
    from gaps_and_lists
    where
        n_marked_units > 0
        and n_reference_units > 0
        and (kind = 'gap' or len(categories) > 0)
    union all by name
    select
        'ratio' as kind,
        keyed_ratios.*,
        coalesce(ratio_totals.n_assessable, 0) as n_assessable
    from keyed_ratios
    left join ratio_totals on keyed_ratios.units_key = ratio_totals.units_key
),

drawn as (
    select
        compared.*,
        -- Few units of a ratio are counted exactly instead.
        if(compared.is_judged, coalesce(families.n_permutations, 0), 0) as n_permutations
    from compared
    left join families
        on
            compared.run_id = families.run_id
            and compared.mitigation = families.mitigation
),

keyed_comparisons as (
    select
        {{ key_of([
            "run_id", "mitigation", "kind", "contrast_id", "outcome", "scheme", "category", "probe",
        ]) }} as comparison_key,
        *,
        category as domain,
        1 as n_candidates,
        len(categories) as n_categories,
        1 as n_blocks,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
