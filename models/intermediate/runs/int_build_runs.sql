with

runs as (
    select
        run_id,
        spec,
        parameters
    from {{ ref("stg_ledger__runs") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis_hash,
        analysis -> 'prices' ->> 'catalogue' as catalogue
    from {{ ref("int_run_analysis_settings") }}
),

prompts as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of([
            "prompt_id", "prompt_hash", "template", "language", "perturbation", "mitigation", "domain",
            "subject",
        ]) }} as fingerprint
    from {{ ref("stg_ledger__prompts") }}
    group by run_id
),

prompt_attributes as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of(["prompt_id", "slot", "attribute", "group_name", "descriptor"]) }} as fingerprint
    from {{ ref("stg_ledger__prompt_attributes") }}
    group by run_id
),

-- Hashes identify texts, and erasures say whether they still exist, so that no text has to be read.
responses as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of([
            "prompt_id", "trial", "attempt", "seq", "response_hash", "status", "weight",
        ]) }} as fingerprint
    from {{ ref("stg_ledger__responses") }}
    group by run_id
),

erasures as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of(["prompt_id", "trial", "attempt"]) }} as fingerprint
    from {{ ref("stg_ledger__erasures") }}
    group by run_id
),

scores as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of([
            "prompt_id", "trial", "attempt", "scorer", "label", "score", "is_short", "scored_at",
        ]) }} as fingerprint
    from {{ ref("stg_ledger__response_scores") }}
    group by run_id
),

labels as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of(["prompt_id", "trial", "labelled_by", "rubric", "label", "is_drawn"]) }} as fingerprint
    from {{ ref("int_answers_labels") }}
    group by run_id
),

-- Grades of judges, and decisions of second readers, whose last one counts.
readers as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of(["event_number", "detail"]) }} as fingerprint
    from {{ ref("stg_ledger__run_events") }}
    where event in ('graded', 'read')
    group by run_id
),

-- A catalogue may be imported again without any change in the run.
catalogues as (
    select
        catalogue,
        max(catalogue_hash) as catalogue_hash
    from {{ ref("stg_ledger__items") }}
    group by catalogue
),

run_states as (
    select
        runs.run_id,
        {{ integer_key_of([
            "runs.run_id", "runs.spec", "runs.parameters", "run_analysis_settings.analysis_hash", "prompts.n",
            "prompts.fingerprint", "prompt_attributes.n", "prompt_attributes.fingerprint", "responses.n",
            "responses.fingerprint", "erasures.n", "erasures.fingerprint", "scores.n", "scores.fingerprint", "labels.n",
            "labels.fingerprint", "readers.n", "readers.fingerprint", "catalogues.catalogue_hash", "'" ~ var("engine_version") ~ "'",
        ]) }} as run_state
    from runs
    left join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
    left join prompts on runs.run_id = prompts.run_id
    left join prompt_attributes on runs.run_id = prompt_attributes.run_id
    left join responses on runs.run_id = responses.run_id
    left join erasures on runs.run_id = erasures.run_id
    left join scores on runs.run_id = scores.run_id
    left join labels on runs.run_id = labels.run_id
    left join readers on runs.run_id = readers.run_id
    left join catalogues on run_analysis_settings.catalogue = catalogues.catalogue
),

{% if is_built_by_run() %}
    -- The states in the last build.
    built_runs as (
        select
            run_id,
            run_state
        from {{ this }}
        where why <> 'gone'
    ),
{% else %}
    built_runs as (
        select *
        from run_states
        where false
    ),
{% endif %}

build_runs as (
    select
        run_states.run_state,
        coalesce(run_states.run_id, built_runs.run_id) as run_id,
        case
            when built_runs.run_id is null then 'new'
            when run_states.run_id is null then 'gone'
            when run_states.run_state <> built_runs.run_state then 'changed'
            else 'same'
        end as why
    from run_states
    full join built_runs on run_states.run_id = built_runs.run_id
)

select * from build_runs
