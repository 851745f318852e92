with

texts as (
    select *
    from {{ ref("int_markers_texts") }}
    where markers_hash is not null
),

schemes as (
    select *
    from {{ ref("int_markers_schemes") }}
),

sides as (
    select *
    from {{ ref("int_markers_sides") }}
),

units as (
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
        subjects.run_id,
        subjects.mitigation,
        subjects.category,
        subjects.probe,
        subjects.is_category,
        {{ missing_side("sides") }} as missing_side,
        bool_and(subjects.is_named) as is_named,
        -- Where some name nobody, those alone are counted.
        if(
            bool_and(subjects.is_named), count(*), count(*) filter (where not subjects.is_named)
        ) as n_texts,
        if(
            bool_and(subjects.is_named), sum(subjects.n_answers),
            sum(subjects.n_answers) filter (where not subjects.is_named)
        ) as n_answers
    from subjects
    inner join sides
        on
            subjects.run_id = sides.run_id
            and subjects.prompt_id = sides.prompt_id
    group by subjects.run_id, subjects.mitigation, subjects.category, subjects.probe, subjects.is_category
),

unit_totals as (
    select
        ratio_key,
        count(*) as n_units,
        sum(n) as n_assessable,
        {{ fingerprint_of(["unit", "cluster", "n", "total_ratio", "weight"]) }} as fingerprint
    from units
    group by ratio_key
),

asked_of_schemes as (
    select
        asked.*,
        schemes.scheme,
        schemes.analysis_hash,
        schemes.markers_hash,
        -- Where persons are named, their groups are compared instead; one answer alone settles nothing about a probe.
        schemes.is_judged and not asked.is_named and (asked.is_category or asked.n_texts > 1) as is_judged
    from asked
    inner join schemes on asked.run_id = schemes.run_id
),

keyed as (
    select
        *,
        {{ ratio_key() }} as ratio_key
    from asked_of_schemes
),

compared as (
    select
        keyed.*,
        coalesce(unit_totals.n_units, 0) as n_units,
        coalesce(unit_totals.n_assessable, 0) as n_assessable,
        coalesce(unit_totals.fingerprint, 0) as fingerprint
    from keyed
    left join unit_totals on keyed.ratio_key = unit_totals.ratio_key
),

drawn as (
    select
        compared.*,
        -- Few units are counted exactly instead.
        if(compared.is_judged, coalesce(families.n_permutations, 0), 0) as n_permutations
    from compared
    left join families
        on
            compared.run_id = families.run_id
            and compared.mitigation = families.mitigation
),

keyed_comparisons as (
    select
        -- Everything the numbers depend on; they are cached under this key.
        {{ key_of([
            "run_id", "mitigation", "scheme", "category", "probe", "analysis_hash", "markers_hash", "n_permutations",
            "fingerprint", "'" ~ var("engine_version") ~ "'", "'" ~ var("seed") ~ "'", "'" ~ var("alpha") ~ "'",
        ]) }} as comparison_key,
        *,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from drawn
)

select * from keyed_comparisons
