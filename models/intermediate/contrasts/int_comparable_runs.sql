with

runs as (
    select
        run_id,
        audit,
        target,
        spec
    from {{ ref("stg_ledger__runs") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_run_analysis_settings") }}
),

-- A run's numbers change when answers are added to it.
answers as (
    select
        run_id,
        fingerprint
    from {{ ref("int_run_answers") }}
    where has_answers
),

local_runs as (
    select
        runs.run_id,
        runs.audit,
        runs.target,
        {{ question_of("runs.spec") }} as question,
        cast(runs.spec -> '$.answer' as varchar) as answer_form,
        run_analysis_settings.analysis_hash,
        '{{ var("engine_version") }}' as engine_version,
        cast(answers.fingerprint as varchar) as fingerprint,
        false as is_imported
    from runs
    inner join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
    inner join answers on runs.run_id = answers.run_id
),

imported_runs as (
    select
        run_id,
        audit,
        target,
        {{ question_of("spec") }} as question,
        cast(spec -> '$.answer' as varchar) as answer_form,
        analysis_hash,
        engine_version,
        file_hash as fingerprint,
        true as is_imported
    from {{ ref("int_imported_baselines") }}
),

comparable_runs as (
    select * from local_runs
    union all by name
    select * from imported_runs
)

select * from comparable_runs
