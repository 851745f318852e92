with

imported_values as (
    {{ imported_rows("list_cell", {
        "run_id": "varchar", "mitigation": "varchar", "scheme": "varchar", "attribute": "varchar", "subject": "varchar",
        "similarity": "varchar", "is_personality": "boolean", "entity": "varchar", "group_name": "varchar",
        "feature": "varchar", "feature_value": "double",
    }) }}
)

select * from imported_values
