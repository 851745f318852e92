with

imported_members as (
    {{ imported_rows("word_member", {
        "run_id": "varchar", "mitigation": "varchar", "scheme": "varchar", "attribute": "varchar", "group_name": "varchar",
        "reference_group": "varchar", "weighting": "varchar", "unit_key": "varchar", "label": "tinyint",
        "stratum": "varchar", "cluster": "varchar", "prompt": "varchar", "n_trials": "double", "moves_prompts": "boolean",
    }) }}
)

select * from imported_members
