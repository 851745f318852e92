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

counts as (
    select
        units.run_id,
        units.unit_key,
        cast(features.word_id as integer) as word_id,
        cast(features.n_occurrences as double) as n
    from {{ ref("int_words_features") }} as features
    inner join units
        on
            features.run_id = units.run_id
            and features.unit_id = units.unit_id
),

imported_counts as (
    select *
    from {{ ref("int_words_imported_counts") }}
),

comparable_counts as (
    select * from counts
    union all by name
    select * from imported_counts
)

select * from comparable_counts
