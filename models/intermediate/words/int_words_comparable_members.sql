{{ config(materialized="view") }}

with

comparisons as (
    select *
    from {{ ref("int_words_comparisons") }}
    where
        is_judged
        and comparison = 'against_reference'
),

comparison_units as (
    select *
    from {{ ref("int_words_comparison_units") }}
),

units as (
    select
        run_id,
        unit_id,
        response_hash
    from {{ ref("int_words_units") }}
),

members as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        comparisons.weighting,
        -- The answer's own hash, so that the same answers come in the same order whichever run they are of.
        units.response_hash as unit_key,
        cast(comparison_units.label as tinyint) as label,
        md5(comparison_units.stratum) as stratum,
        coalesce(
            comparison_units.paired_cluster, comparison_units.person, cast(comparison_units.text_key as varchar)
        ) as cluster,
        md5(comparison_units.question) as prompt,
        cast(greatest(round(comparison_units.n_trials), 1) as double) as n_trials,
        cast(comparisons.moves_prompts as boolean) as moves_prompts
    from comparisons
    inner join comparison_units
        on
            comparisons.run_id = comparison_units.run_id
            and comparisons.contrast_id = comparison_units.contrast_id
            and comparisons.scheme = comparison_units.scheme
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparison_units.unit_id = units.unit_id
),

imported_members as (
    {{ imported_rows("word_member", {
        "run_id": "varchar", "mitigation": "varchar", "scheme": "varchar", "attribute": "varchar", "group_name": "varchar",
        "reference_group": "varchar", "weighting": "varchar", "unit_key": "varchar", "label": "tinyint",
        "stratum": "varchar", "cluster": "varchar", "prompt": "varchar", "n_trials": "double", "moves_prompts": "boolean",
    }) }}
),

comparable_members as (
    select * from members
    union all by name
    select * from imported_members
)

select * from comparable_members
