with

imported_counts as (
    {{ imported_rows("price", {
        "run_id": "varchar", "mitigation": "varchar", "attribute": "varchar", "unit_key": "varchar", "stratum": "varchar",
        "cluster": "varchar", "group_name": "varchar", "domain": "varchar", "level": "integer", "n_levels": "integer",
        "n": "double",
    }) }}
)

select * from imported_counts
