with

run_analysis_settings as (
    select
        run_id,
        analysis
    from {{ ref("int_run_analysis_settings") }}
),

listed_schemes as (
    select
        run_id,
        from_json(analysis -> 'words' -> 'schemes', '["VARCHAR"]') as schemes
    from run_analysis_settings
),

run_schemes as (
    select
        run_id,
        unnest(schemes) as scheme,
        generate_subscripts(schemes, 1) as scheme_position
    from listed_schemes
),

words_schemes as (
    select
        run_id,
        scheme,
        -- The first scheme is judged; the others stand next to it with the published numbers.
        scheme_position = 1 as is_judged
    from run_schemes
)

select * from words_schemes
