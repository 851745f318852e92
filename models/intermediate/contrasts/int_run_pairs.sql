{#- Two runs that `biasledger compare` asks for and that are not compared anyway. -#}
{%- set asked_for = fromjson(env_var("BIASLEDGER_COMPARED", "[]")) %}

with

all_runs as (
    select *
    from {{ ref("int_runs") }}
    where is_comparable
),

-- prompt_id is the beginning of a hash of all that a prompt says.
prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ ref("stg_ledger__prompts") }}
),

mitigations as (
    select distinct
        run_id,
        mitigation
    from prompts
),

local_runs as (
    select *
    from all_runs
    where not is_imported
),

baselines as (
    select
        audit,
        target,
        run_id
    from {{ ref("stg_ledger__baselines") }}
),

paired as (
    select
        baselines.run_id as baseline_run_id,
        'plain' as baseline_mitigation,
        local_runs.run_id,
        'plain' as mitigation,
        'baseline' as kind
    from local_runs
    inner join baselines
        on
            local_runs.audit = baselines.audit
            and local_runs.target = baselines.target
            and local_runs.run_id <> baselines.run_id
    where local_runs.is_current
    union all
    select
        previous_run_id as baseline_run_id,
        'plain' as baseline_mitigation,
        run_id,
        'plain' as mitigation,
        'previous' as kind
    from local_runs
    where previous_run_id is not null
    union all
    select
        run_id as baseline_run_id,
        'plain' as baseline_mitigation,
        run_id,
        mitigation,
        'mitigation' as kind
    from mitigations
    where mitigation <> 'plain'
    {% if asked_for %}
        union all
        select
            '{{ asked_for[0] }}' as baseline_run_id,
            'plain' as baseline_mitigation,
            '{{ asked_for[1] }}' as run_id,
            'plain' as mitigation,
            'asked_for' as kind
    {% endif %}
),

-- A pair may be two kinds at once, as where the run before is the baseline.
distinct_pairs as (
    select
        baseline_run_id,
        baseline_mitigation,
        run_id,
        mitigation,
        bool_or(kind = 'baseline') as is_baseline,
        bool_or(kind = 'previous') as is_previous
    from paired
    group by baseline_run_id, baseline_mitigation, run_id, mitigation
),

-- Of runs that were asked different questions those that both share can be compared.
shared_prompts as (
    select
        distinct_pairs.baseline_run_id,
        distinct_pairs.run_id,
        count(*) as n_shared
    from distinct_pairs
    inner join all_runs as before on distinct_pairs.baseline_run_id = before.run_id
    inner join local_runs as after on distinct_pairs.run_id = after.run_id
    inner join prompts on distinct_pairs.run_id = prompts.run_id
    inner join prompts as baseline_prompts
        on
            distinct_pairs.baseline_run_id = baseline_prompts.run_id
            and prompts.prompt_id = baseline_prompts.prompt_id
    where before.question <> after.question
    group by distinct_pairs.baseline_run_id, distinct_pairs.run_id
),

run_pairs as (
    select
        -- All that the numbers depend on; they are cached under this key.
        {{ key_of([
            "distinct_pairs.baseline_run_id", "distinct_pairs.baseline_mitigation", "distinct_pairs.run_id",
            "distinct_pairs.mitigation", "before.fingerprint", "before.analysis_hash", "before.engine_version",
            "after.fingerprint", "after.analysis_hash", "after.engine_version", "'" ~ var("seed") ~ "'",
            "'" ~ var("alpha") ~ "'",
        ]) }} as pair_key,
        distinct_pairs.*,
        after.audit,
        after.target,
        before.target as baseline_target,
        after.is_current,
        before.is_imported,
        before.question = after.question as is_same_question,
        {{ incomparable_because("before", "after", "shared_prompts.n_shared") }} as incomparable_because,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from distinct_pairs
    inner join all_runs as before on distinct_pairs.baseline_run_id = before.run_id
    inner join local_runs as after on distinct_pairs.run_id = after.run_id
    left join shared_prompts
        on
            distinct_pairs.baseline_run_id = shared_prompts.baseline_run_id
            and distinct_pairs.run_id = shared_prompts.run_id
)

select * from run_pairs
