with

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
)

select * from imported_counts
