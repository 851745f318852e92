with

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
    where is_judged
),

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        is_crossed
    from {{ ref("int_contrasts") }}
),

scores as (
    select *
    from {{ ref("int_markers_scores") }}
    -- Where persons are named, their groups are compared instead.
    where
        is_assessable
        and not is_named
),

units as (
    select *
    from {{ ref("int_markers_units") }}
    -- A null list counts tokens.
    where
        outcome <> 'list'
        or list is not null
),

compared as (
    select distinct
        units.units_key,
        contrasts.run_id,
        contrasts.mitigation,
        contrasts.is_crossed or units.outcome = 'list' as is_warning
    from units
    inner join contrasts on units.contrast_id = contrasts.contrast_id
    left join schemes
        on
            contrasts.run_id = schemes.run_id
            and units.scheme = schemes.scheme
    -- Scores are all judged that are compared.
    where
        units.outcome not in ('stereotype_ratio', 'list')
        or schemes.scheme is not null
),

-- Ratios of categories and gaps of attributes fail the audit; those of probes and intersections, and lists, warn.
judged as (
    select
        scores.run_id,
        scores.mitigation,
        count(distinct scores.category) as n_failing,
        count(distinct scores.probe) filter (where scores.probe <> '') as n_warning
    from scores
    inner join schemes
        on
            scores.run_id = schemes.run_id
            and scores.scheme = schemes.scheme
    group by scores.run_id, scores.mitigation
    union all by name
    select
        run_id,
        mitigation,
        count(*) filter (where not is_warning) as n_failing,
        count(*) filter (where is_warning) as n_warning
    from compared
    group by run_id, mitigation
),

-- How many findings Holm's step-down holds together. Mitigations only warn.
families as (
    select
        run_id,
        mitigation,
        sum(n_failing) as n_failing,
        sum(n_warning) + if(mitigation = 'plain', 0, sum(n_failing)) as n_warning
    from judged
    group by run_id, mitigation
),

-- Ten times the draws that Holm's smallest step needs where the audit fails, twice where it warns.
draws as (
    select
        run_id,
        mitigation,
        {{ permutations_for("greatest(10 * n_failing, 2 * n_warning)") }} as n_permutations
    from families
)

select * from draws
