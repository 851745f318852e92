with

predictions as (
    select *
    from {{ ref("int_decisions_predictions") }}
),

described as (
    select
        cast(run_id as varchar) as run_id,
        cast(prompt_id as varchar) as prompt_id,
        cast(variant as varchar) as variant,
        cast(template as varchar) as template,
        cast(domain as varchar) as domain,
        cast(subject as varchar) as subject,
        cast(carrier as varchar) as carrier,
        cast(label as varchar) as label,
        cast(expected_label as varchar) as expected_label,
        cast(trial as integer) as trial,
        cast(slot as integer) as slot,
        cast(rank as integer) as rank,
        cast(n_candidates as integer) as n_candidates,
        cast(score as double) as score,
        cast(standing as double) as standing,
        cast(weight as double) as weight,
        cast(selected as boolean) as is_selected,
        cast(correct as boolean) as is_correct,
        cast(is_missing as boolean) as is_missing,
        cast(is_unknown as boolean) as is_unknown
    from predictions
)

select * from described
