with

measured as (
    select *
    from {{ ref("int_findings_measured") }}
    where
        value is not null
        and standard_error is not null
),

paired_with_plain as (
    select
        mitigated.run_id,
        mitigated.variant,
        mitigated.measure,
        mitigated.scheme,
        mitigated.attribute,
        mitigated.group_name,
        mitigated.reference_group,
        mitigated.subject,
        plain.value as plain_value,
        mitigated.value as variant_value,
        mitigated.value - plain.value as difference,
        sqrt(pow(mitigated.standard_error, 2) + pow(plain.standard_error, 2)) as standard_error
    from measured as mitigated
    inner join measured as plain
        on
            mitigated.run_id = plain.run_id
            and mitigated.measure = plain.measure
            and mitigated.scheme = plain.scheme
            and mitigated.attribute = plain.attribute
            and mitigated.group_name = plain.group_name
            and mitigated.reference_group = plain.reference_group
            and mitigated.subject = plain.subject
    where
        mitigated.variant <> 'plain'
        and plain.variant = 'plain'
),

variant_comparisons as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(plain_value as double) as plain_value,
        cast(variant_value as double) as variant_value,
        cast(difference as double) as difference,
        cast(standard_error as double) as standard_error,
        cast(difference - 1.959964 * standard_error as double) as interval_low,
        cast(difference + 1.959964 * standard_error as double) as interval_high,
        cast({{ two_sided_normal_p("difference / nullif(standard_error, 0)") }} as double) as p_value
    from paired_with_plain
)

select * from variant_comparisons
