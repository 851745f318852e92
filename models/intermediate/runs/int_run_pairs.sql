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
        mitigation,
        domain,
        template,
        subject
    from {{ ref("stg_ledger__prompts") }}
),

run_groups as (
    select *
    from {{ ref("int_run_groups") }}
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

-- Runs that were asked different questions, or about other wordings of a group, can be compared on those that both
-- share.
shared_prompts as (
    select
        distinct_pairs.baseline_run_id,
        distinct_pairs.run_id,
        count(*) as n_shared
    from distinct_pairs
    inner join prompts on distinct_pairs.run_id = prompts.run_id
    inner join prompts as baseline_prompts
        on
            distinct_pairs.baseline_run_id = baseline_prompts.run_id
            and prompts.prompt_id = baseline_prompts.prompt_id
    where distinct_pairs.baseline_run_id <> distinct_pairs.run_id
    group by distinct_pairs.baseline_run_id, distinct_pairs.run_id
),

sides as (
    select
        baseline_run_id,
        run_id,
        unnest([baseline_run_id, run_id]) as side_run_id
    from distinct_pairs
    where baseline_run_id <> run_id
),

-- Each of two runs with its groups as they are defined, and the kinds and names of its prompts' cases.
asked_about as (
    select distinct
        sides.*,
        true as is_group,
        run_groups.attribute as kind,
        run_groups.group_name as name,
        run_groups.definition_hash as definition
    from sides
    inner join run_groups on sides.side_run_id = run_groups.run_id
    union all
    select distinct
        sides.*,
        false as is_group,
        unnest(['domain', 'template', 'subject']) as kind,
        unnest([prompts.domain, prompts.template, prompts.subject]) as name,
        '' as definition
    from sides
    inner join prompts on sides.side_run_id = prompts.run_id
),

counted_sides as (
    select
        *,
        count(*) over (partition by baseline_run_id, run_id, is_group, kind, name, definition) = 2 as is_shared,
        count(*) over (partition by baseline_run_id, run_id, is_group, kind, name) = 2 as is_of_both_runs
    from asked_about
    where name <> ''
),

-- Runs that share no subject have different customers, which are not listed.
shared_kinds as (
    select
        *,
        bool_or(is_shared) over (partition by baseline_run_id, run_id, is_group, kind) as has_shared,
        -- Imported baselines have no prompts.
        min(side_run_id) over (partition by baseline_run_id, run_id, is_group, kind)
        <> max(side_run_id) over (partition by baseline_run_id, run_id, is_group, kind) as is_kind_of_both
    from counted_sides
),

kinds_left_out as (
    select
        baseline_run_id,
        run_id,
        side_run_id,
        is_group,
        kind,
        kind || ' ' || {{ first_names("if(is_of_both_runs, name || ' (other wording)', name)") }} as names
    from shared_kinds
    where
        not is_shared
        and (has_shared or is_group or (kind <> 'subject' and is_kind_of_both))
    group by baseline_run_id, run_id, side_run_id, is_group, kind
),

left_out as (
    select
        baseline_run_id,
        run_id,
        string_agg(if(side_run_id = baseline_run_id, names, null), '; ' order by is_group, kind) as only_in_baseline,
        string_agg(if(side_run_id = run_id, names, null), '; ' order by is_group, kind) as only_in_run
    from kinds_left_out
    group by baseline_run_id, run_id
),

groups_of_pairs as (
    select
        baseline_run_id,
        run_id,
        bool_or(is_shared) as has_shared
    from counted_sides
    where is_group
    group by baseline_run_id, run_id
),

build_runs as (
    select
        run_id,
        run_state
    from {{ ref("int_build_runs") }}
),

run_pairs as (
    select
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
        coalesce(
            {{ incomparable_because("before", "after", "shared_prompts.n_shared") }},
            case when not groups_of_pairs.has_shared and shared_prompts.n_shared is null then 'they share no group' end
        ) as incomparable_because,
        left_out.only_in_baseline,
        left_out.only_in_run,
        -- Of both runs; an imported baseline is its file.
        concat_ws(
            ' ', distinct_pairs.baseline_mitigation, coalesce(states_before.run_state, before.fingerprint),
            distinct_pairs.mitigation, states_after.run_state
        ) as run_state,
        {{ var("alpha") }} as alpha,
        {{ var("seed") }} as seed
    from distinct_pairs
    inner join all_runs as before on distinct_pairs.baseline_run_id = before.run_id
    inner join local_runs as after on distinct_pairs.run_id = after.run_id
    left join build_runs as states_before on distinct_pairs.baseline_run_id = states_before.run_id
    left join build_runs as states_after on distinct_pairs.run_id = states_after.run_id
    left join shared_prompts
        on
            distinct_pairs.baseline_run_id = shared_prompts.baseline_run_id
            and distinct_pairs.run_id = shared_prompts.run_id
    left join groups_of_pairs
        on
            distinct_pairs.baseline_run_id = groups_of_pairs.baseline_run_id
            and distinct_pairs.run_id = groups_of_pairs.run_id
    left join left_out
        on
            distinct_pairs.baseline_run_id = left_out.baseline_run_id
            and distinct_pairs.run_id = left_out.run_id
)

select * from run_pairs
