{{ config(materialized="view") }}

-- A unit has the same unit_key in a run and its mitigations, and the same `asked` in all runs that asked the same.
with

imported as (
    {{ imported_rows("paired_unit", {
        "run_id": "varchar", "mitigation": "varchar", "measure": "varchar", "scheme": "varchar", "attribute": "varchar",
        "group_name": "varchar", "reference_group": "varchar", "subject": "varchar", "unit_key": "varchar",
        "asked": "varchar", "is_marked": "boolean", "stratum": "varchar", "cluster": "varchar", "name": "varchar",
        "name_stratum": "varchar", "is_named": "boolean", "n_candidates": "double", "n": "double", "total": "double",
        "outcome_range": "double",
    }) }}
),

paired_units as (
    select * from imported
    union all by name
    select * from {{ ref("int_answers_paired_units") }}
    {% for method in methods(with_output="paired_units") %}
        union all by name
        select * from {{ ref("int_" ~ method ~ "_paired_units") }}
    {% endfor %}
)

select * from paired_units
