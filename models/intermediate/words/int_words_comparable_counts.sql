{{ config(materialized="view") }}

with

units as (
    select
        run_id,
        unit_id,
        response_hash as unit_key
    from {{ ref("int_words_units") }}
    where is_judged
),

features as (
    select
        run_id,
        unit_id,
        word_id,
        n_occurrences
    from {{ ref("int_words_features") }}
    {% if target.type != "duckdb" %}
        -- A view is written whole there, and most runs are in no pair. Baselines are exported from a build on DuckDB.
        where
            run_id in (select pairs.run_id from {{ ref("int_run_pairs") }} as pairs)
            or run_id in (select pairs.baseline_run_id from {{ ref("int_run_pairs") }} as pairs)
    {% endif %}
),

counts as (
    select
        units.run_id,
        units.unit_key,
        cast(features.word_id as integer) as word_id,
        cast(features.n_occurrences as double) as n
    from features
    inner join units
        on
            features.run_id = units.run_id
            and features.unit_id = units.unit_id
),

imported_texts as (
    {{ imported_rows("word_count", {
        "run_id": "varchar", "unit_key": "varchar", "word_ids": "integer[]", "counts": "double[]",
    }) }}
),

imported_counts as (
    select
        run_id,
        unit_key,
        unnest(word_ids) as word_id,
        unnest(counts) as n
    from imported_texts
),

comparable_counts as (
    select * from counts
    union all by name
    select * from imported_counts
)

select * from comparable_counts
