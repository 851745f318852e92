with

run_readings as (
    select
        run_id,
        reading
    from {{ ref("int_run_readings") }}
),

listed_terms as (
    select
        run_id,
        unnest(from_json(reading -> 'words' -> 'terms', '[{"list": "VARCHAR", "term": "VARCHAR"}]')) as listed
    from run_readings
),

words_terms as (
    select distinct
        run_id,
        replace(lower(listed.term), '’', '''') as term,
        -- Terms of several words are cut from the text, single words are left out where features are made.
        contains(trim(listed.term), ' ') as is_phrase
    from listed_terms
)

select * from words_terms
