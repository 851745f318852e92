-- What a run's tables depend on besides its spec and analysis: rows of these tables, as these columns.
{% set hashed_tables = {
    "prompts": ("stg_ledger__prompts", [
        "prompt_id", "prompt_hash", "template", "language", "perturbation", "mitigation", "domain", "subject",
    ]),
    "prompt_attributes": (
        "stg_ledger__prompt_attributes", ["prompt_id", "slot", "attribute", "group_name", "descriptor"]
    ),
    "responses": (
        "stg_ledger__responses", ["prompt_id", "trial", "attempt", "seq", "response_hash", "status", "weight"]
    ),
    "erasures": ("stg_ledger__erasures", ["prompt_id", "trial", "attempt"]),
    "scores": ("stg_ledger__response_scores", [
        "prompt_id", "trial", "attempt", "scorer", "label", "score", "is_short", "scored_at",
    ]),
    "labels": ("int_answers_labels", ["prompt_id", "trial", "labelled_by", "rubric", "label", "is_drawn"]),
    "readers": ("stg_ledger__run_events", ["event_number", "detail"]),
} -%}
-- Hashes identify texts, and erasures say whether they still exist, so that no text has to be read.

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

{% for name, (table, columns) in hashed_tables.items() -%}
    {{ name }} as (
        select
            run_id,
            count(*) as n,
            {{ fingerprint_of(columns) }} as fingerprint
        from {{ ref(table) }}
        {% if name == "readers" -%}
            -- Grades of judges, and decisions of second readers, whose last one counts.
            where event in ('graded', 'read')
        {% endif -%}
        group by run_id
    ),

{% endfor -%}

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
        {% set hashes = [] -%}
        {% for name in hashed_tables %}{% do hashes.extend([name ~ ".n", name ~ ".fingerprint"]) %}{% endfor -%}
        {{ key_of(
            ["runs.run_id", "runs.spec", "runs.parameters", "run_analysis_settings.analysis_hash"]
            + hashes
            + ["catalogues.catalogue_hash", "'" ~ var("engine_version") ~ "'"]
        ) }} as run_state
    from runs
    left join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
    {% for name in hashed_tables -%}
        left join {{ name }} on runs.run_id = {{ name }}.run_id
    {% endfor -%}
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
