with

runs as (
    select *
    from {{ ref("stg_ledger__runs") }}
),

described as (
    select *
    from {{ ref("int_runs") }}
),

nouns as (
    select *
    from {{ ref("int_run_nouns") }}
),

last_events as (
    select
        run_id,
        arg_max(event, event_number) as last_event,
        arg_max(happened_at, event_number) as last_event_at
    from {{ ref("stg_ledger__run_events") }}
    -- Labels by people and readings by a second reader say nothing of how far a run has come.
    where event not in ('labelled', 'read')
    group by run_id
),

prompt_counts as (
    select
        run_id,
        count(*) as n_prompts
    from {{ ref("stg_ledger__prompts") }}
    group by run_id
),

response_counts as (
    select
        run_id,
        count(*) as n_responses,
        count(*) filter (where status = 'ok') as n_ok,
        count(distinct model_answered) as n_models_answered
    from {{ ref("stg_ledger__responses") }}
    group by run_id
),

-- The later of two models under one target name hides the findings on the earlier one.
hidden_models as (
    select
        current_runs.run_id,
        string_agg(distinct earlier.model_asked, ', ' order by earlier.model_asked) as hides_models
    from described
    inner join runs as current_runs on described.run_id = current_runs.run_id
    inner join runs as earlier
        on
            current_runs.audit = earlier.audit
            and current_runs.target = earlier.target
            and current_runs.model_asked != earlier.model_asked
    where described.is_current
    group by current_runs.run_id
),

described_runs as (
    select
        cast(runs.run_id as varchar) as run_id,
        cast(runs.audit as varchar) as audit,
        cast(runs.target as varchar) as target,
        cast(runs.target_kind as varchar) as target_kind,
        cast(runs.model_asked as varchar) as model_asked,
        cast(hidden_models.hides_models as varchar) as hides_models,
        cast(runs.origin as varchar) as origin,
        cast(runs.source_name as varchar) as source_name,
        cast(runs.spec_hash as varchar) as spec_hash,
        cast(described.analysis_hash as varchar) as analysis_hash,
        cast(runs.answer_rules_version as varchar) as answer_rules_version,
        cast(last_events.last_event as varchar) as last_event,
        cast(nouns.noun_item as varchar) as noun_item,
        cast(nouns.noun_items as varchar) as noun_items,
        cast(nouns.noun_case as varchar) as noun_case,
        cast(nouns.noun_cases as varchar) as noun_cases,
        cast(nouns.noun_outcome as varchar) as noun_outcome,
        cast(nouns.noun_unit as varchar) as noun_unit,
        cast(coalesce(prompt_counts.n_prompts, 0) as bigint) as n_prompts,
        cast(coalesce(response_counts.n_responses, 0) as bigint) as n_responses,
        cast(coalesce(response_counts.n_ok, 0) as bigint) as n_ok,
        cast(coalesce(response_counts.n_models_answered, 0) as bigint) as n_models_answered,
        cast(described.n_prompt_tokens as bigint) as n_prompt_tokens,
        cast(described.n_completion_tokens as bigint) as n_completion_tokens,
        cast(described.cost_usd as double) as cost_usd,
        cast(runs.is_simulated as boolean) as is_simulated,
        cast(described.is_finished as boolean) as is_finished,
        cast(described.is_current as boolean) as is_current,
        cast(described.run_rank as bigint) as run_rank,
        cast(runs.started_at as timestamp) as started_at,
        cast(last_events.last_event_at as timestamp) as last_event_at
    from runs
    inner join described on runs.run_id = described.run_id
    left join nouns on runs.run_id = nouns.run_id
    left join last_events on runs.run_id = last_events.run_id
    left join prompt_counts on runs.run_id = prompt_counts.run_id
    left join response_counts on runs.run_id = response_counts.run_id
    left join hidden_models on runs.run_id = hidden_models.run_id
)

select * from described_runs
