with

imported_selections as (
    {{ imported_rows("selection", {
        "run_id": "varchar", "mitigation": "varchar", "attribute": "varchar", "subject": "varchar", "unit_key": "varchar",
        "stratum": "varchar", "cluster": "varchar", "group_name": "varchar", "n_candidates": "integer", "n": "double",
        "total": "double",
    }) }}
)

select * from imported_selections
