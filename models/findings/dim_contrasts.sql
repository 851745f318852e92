with

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
),

-- Some measures compare a group, or all groups, with the neutral prompt, all others or chance. Comparisons that are not
-- judged are included.
judged as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_findings_measured") }}
    union by name
    select *
    from {{ ref("int_answers_contrasts") }}
    {% for method in methods(with_output="contrasts") %}
        union by name
        select * from {{ ref("int_" ~ method ~ "_contrasts") }}
    {% endfor %}
),

others as (
    select
        judged.*,
        case
            when judged.group_name = '(all)' then 'all_groups'
            when judged.reference_group like '(%' then 'against_' || trim(judged.reference_group, '()')
            else 'against_reference'
        end as comparison
    from judged
    anti join contrasts on judged.contrast_id = contrasts.contrast_id
),

every_contrast as (
    select * from contrasts
    union all by name
    select * from others
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
),

described as (
    select
        every_contrast.*,
        runs.audit,
        runs.target
    from every_contrast
    inner join runs on every_contrast.run_id = runs.run_id
)

{{ contracted("described") }}
