with

ledger_runs as (
    select
        run_id,
        audit,
        target,
        model_asked,
        spec,
        is_simulated,
        started_at
    from {{ ref("stg_ledger__runs") }}
),

run_events as (
    select
        run_id,
        event,
        detail
    from {{ ref("stg_ledger__run_events") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis_hash
    from {{ ref("int_run_analysis_settings") }}
),

-- One that was finished and is then resumed, to ask again what failed, has all its answers even so.
progress as (
    select
        run_id,
        bool_or(event = 'finished') as is_finished,
        bool_or(event = 'started' and coalesce(json_extract_string(detail, '$.batch') = 'true', false)) as is_batch
    from run_events
    group by run_id
),

answers as (
    select *
    from {{ ref("int_run_answers") }}
),

described as (
    select
        ledger_runs.*,
        coalesce(answers.has_answers, false) as has_answers,
        cast(answers.fingerprint as varchar) as fingerprint,
        coalesce(progress.is_finished, false) as is_finished,
        coalesce(progress.is_batch, false) as is_batch,
        coalesce(answers.has_answers and progress.is_finished, false) as is_whole
    from ledger_runs
    left join progress on ledger_runs.run_id = progress.run_id
    left join answers on ledger_runs.run_id = answers.run_id
),

-- A run that was stopped half-way, or is being collected, takes no other's place before it is finished: what it has not
-- asked yet could not be an alarm. Where none was finished, what there is counts.
counting as (
    select
        *,
        row_number() over (
            partition by audit, target
            order by is_whole desc, has_answers desc, started_at desc, run_id desc
        ) as place
    from described
),

dated as (
    select
        *,
        started_at > first_value(started_at) over (partition by audit, target order by place) as is_newer
    from counting
),

ordered as (
    select
        *,
        place = 1 as is_current,
        row_number() over (partition by audit, target order by is_newer, place) as run_rank,
        coalesce(
            last_value(if(is_whole, run_id, null) ignore nulls) over earlier,
            last_value(if(has_answers, run_id, null) ignore nulls) over earlier
        ) as previous_run_id
    from dated
    window
        earlier as (
            partition by audit, target
            order by started_at asc, run_id asc
            rows between unbounded preceding and 1 preceding
        )
),

-- Tries that failed or were asked again are paid for too.
token_counts as (
    select
        run_id,
        sum(prompt_tokens) as n_prompt_tokens,
        sum(completion_tokens) as n_completion_tokens
    from {{ ref("stg_ledger__responses") }}
    group by run_id
),

prices as (
    select
        lower(model) as model,
        input_usd_per_million,
        output_usd_per_million,
        coalesce(batch_share, 1.0) as batch_share,
        from_date
    from {{ ref("model_prices") }}
),

-- A model's own name comes before those of families, a longer family before a shorter; of its prices the latest holds.
run_prices as (
    select
        ledger_runs.run_id,
        prices.input_usd_per_million,
        prices.output_usd_per_million,
        prices.batch_share
    from ledger_runs
    inner join prices
        on
            prices.from_date <= cast(ledger_runs.started_at as date)
            and (
                prices.model = lower(ledger_runs.model_asked)
                or (
                    right(prices.model, 1) = '*'
                    and left(lower(ledger_runs.model_asked), length(prices.model) - 1)
                    = left(prices.model, length(prices.model) - 1)
                )
            )
    qualify
        row_number() over (
            partition by ledger_runs.run_id
            order by right(prices.model, 1) = '*' asc, length(prices.model) desc, prices.from_date desc
        ) = 1
),

-- A run's numbers change when answers are added to it, and with them its fingerprint.
local_runs as (
    select
        ordered.run_id,
        ordered.audit,
        ordered.target,
        false as is_imported,
        ordered.is_finished,
        ordered.is_current,
        ordered.run_rank,
        ordered.previous_run_id,
        ordered.has_answers and run_analysis_settings.run_id is not null as is_comparable,
        {{ question_of("ordered.spec") }} as question,
        cast(ordered.spec -> '$.answer' as varchar) as answer_form,
        run_analysis_settings.analysis_hash,
        '{{ var("engine_version") }}' as engine_version,
        ordered.fingerprint,
        token_counts.n_prompt_tokens,
        token_counts.n_completion_tokens,
        case
            when ordered.is_simulated then 0.0
            else (
                coalesce(token_counts.n_prompt_tokens, 0) * run_prices.input_usd_per_million
                + token_counts.n_completion_tokens * run_prices.output_usd_per_million
            )
            * case when ordered.is_batch then run_prices.batch_share else 1.0 end
            / 1000000.0
        end as cost_usd
    from ordered
    left join run_analysis_settings on ordered.run_id = run_analysis_settings.run_id
    left join token_counts on ordered.run_id = token_counts.run_id
    left join run_prices on ordered.run_id = run_prices.run_id
),

-- A run that the ledger holds is read from there, and not from a baseline's file.
imported_runs as (
    select
        baselines.run_id,
        baselines.audit,
        baselines.target,
        true as is_imported,
        true as is_comparable,
        {{ question_of("(baselines.manifest -> 'spec')") }} as question,
        cast(baselines.manifest -> '$.spec.answer' as varchar) as answer_form,
        baselines.manifest ->> 'analysis_hash' as analysis_hash,
        baselines.manifest ->> 'engine_version' as engine_version,
        baselines.file_hash as fingerprint
    from {{ ref("stg_ledger__baselines") }} as baselines
    left join ledger_runs on baselines.run_id = ledger_runs.run_id
    where
        baselines.file_hash is not null
        and ledger_runs.run_id is null
),

runs as (
    select * from local_runs
    union all by name
    select * from imported_runs
)

select * from runs
