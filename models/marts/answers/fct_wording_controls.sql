with

-- The A/A control: differences of two wordings of one group, compared as two groups are.
worded_groups as (
    select
        run_id,
        attribute,
        group_name
    from {{ ref("int_group_descriptors") }}
    where
        not is_named
        and n_people is null
        and n_descriptors > 1
),

answer_contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_answers_contrasts") }}
),

answer_units as (
    select
        contrast_id,
        prompt_id,
        label,
        stratum,
        name,
        unnest(['refused', 'unusable', 'failed']) as scheme,
        unnest([n, n, n_asked]) as n,
        unnest([n_refused, n_unusable, n_failed]) as total
    from {{ ref("int_answers_gap_units") }}
),

-- The reference group is in several contrasts.
answers as (
    select distinct
        answer_contrasts.run_id,
        answer_contrasts.mitigation,
        'answer_gap' as measure,
        answer_units.scheme,
        '' as subject,
        answer_contrasts.attribute,
        if(answer_units.label = 1, answer_contrasts.group_name, answer_contrasts.reference_group) as group_name,
        answer_units.prompt_id as unit,
        answer_units.stratum,
        answer_units.name as wording,
        cast(answer_units.n as double) as n,
        cast(answer_units.total as double) as total
    from answer_units
    inner join answer_contrasts on answer_units.contrast_id = answer_contrasts.contrast_id
),

units as (
    select * from answers
    {% for method in methods(with_output="wording_units") %}
        union all by name
        select * from {{ ref("int_" ~ method ~ "_wording_units") }}
    {% endfor %}
),

wordings as (
    select
        units.run_id,
        units.mitigation,
        units.measure,
        units.scheme,
        units.subject,
        units.attribute,
        units.group_name,
        units.stratum,
        units.wording,
        sum(units.n order by units.unit) as n,
        sum(units.total order by units.unit) / sum(units.n order by units.unit) as mean_outcome
    from units
    inner join worded_groups
        on
            units.run_id = worded_groups.run_id
            and units.attribute = worded_groups.attribute
            and units.group_name = worded_groups.group_name
    where
        units.n > 0
        and units.wording is not null
    group by
        units.run_id, units.mitigation, units.measure, units.scheme, units.subject, units.attribute, units.group_name,
        units.stratum, units.wording
),

pairs as (
    select
        one.run_id,
        one.mitigation,
        one.measure,
        one.scheme,
        one.subject,
        one.attribute,
        one.group_name,
        one.wording,
        other.wording as other_wording,
        -- The weights of gaps (docs/methods.md).
        sum(
            one.n * other.n / (one.n + other.n) * (one.mean_outcome - other.mean_outcome) order by one.stratum
        )
        / sum(one.n * other.n / (one.n + other.n) order by one.stratum) as difference
    from wordings as one
    inner join wordings as other
        on
            one.run_id = other.run_id
            and one.mitigation = other.mitigation
            and one.measure = other.measure
            and one.scheme = other.scheme
            and one.subject = other.subject
            and one.attribute = other.attribute
            and one.group_name = other.group_name
            and one.stratum = other.stratum
            and one.wording < other.wording
    group by
        one.run_id, one.mitigation, one.measure, one.scheme, one.subject, one.attribute, one.group_name, one.wording,
        other.wording
),

controls_of_gaps as (
    select
        run_id,
        mitigation,
        measure,
        scheme,
        subject,
        attribute,
        group_name,
        max(abs(difference)) as value,
        sqrt(avg(difference * difference order by wording, other_wording)) as typical_value,
        count(*) as n_pairs
    from pairs
    group by run_id, mitigation, measure, scheme, subject, attribute, group_name
),

-- Measures that are no gaps of means were computed between each two wordings as between two groups. The reference
-- group's texts are compared with those of each other group, and its largest value counts.
measured as (
    {% for method in methods(with_output="wording_pairs") %}
        select * from {{ ref("int_" ~ method ~ "_wording_pairs") }}
        union all by name
    {% endfor %}
    select * from controls_of_gaps
    where false
),

controls_of_pairs as (
    select
        measured.run_id,
        measured.mitigation,
        measured.measure,
        measured.scheme,
        measured.subject,
        measured.attribute,
        measured.group_name,
        max(measured.value) as value,
        max(measured.typical_value) as typical_value,
        max(measured.n_pairs) as n_pairs
    from measured
    inner join worded_groups
        on
            measured.run_id = worded_groups.run_id
            and measured.attribute = worded_groups.attribute
            and measured.group_name = worded_groups.group_name
    group by
        measured.run_id, measured.mitigation, measured.measure, measured.scheme, measured.subject, measured.attribute,
        measured.group_name
),

controls as (
    select * from controls_of_gaps
    union all by name
    select * from controls_of_pairs
)

{{ contracted("controls") }}
