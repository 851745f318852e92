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

gap_units as (
    select *
    from {{ ref("int_markers_gap_units") }}
),

list_units as (
    select *
    from {{ ref("int_markers_list_units") }}
    where list is not null
),

compared_gaps as (
    select distinct
        gap_units.gap_key,
        contrasts.run_id,
        contrasts.mitigation,
        contrasts.is_crossed
    from gap_units
    inner join contrasts on gap_units.contrast_id = contrasts.contrast_id
    left join schemes
        on
            contrasts.run_id = schemes.run_id
            and gap_units.scheme = schemes.scheme
    -- Scores are all judged that are compared.
    where
        gap_units.outcome <> 'stereotype_ratio'
        or schemes.scheme is not null
),

compared_lists as (
    select distinct
        contrasts.contrast_id,
        contrasts.run_id,
        contrasts.mitigation
    from list_units
    inner join contrasts on list_units.contrast_id = contrasts.contrast_id
    inner join schemes
        on
            contrasts.run_id = schemes.run_id
            and list_units.scheme = schemes.scheme
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
        count(*) filter (where not is_crossed) as n_failing,
        count(*) filter (where is_crossed) as n_warning
    from compared_gaps
    group by run_id, mitigation
    union all by name
    select
        run_id,
        mitigation,
        0 as n_failing,
        count(*) as n_warning
    from compared_lists
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
