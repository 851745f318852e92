with

judges as (
    select *
    from {{ ref("int_markers_judges") }}
),

listed as (
    select
        run_id,
        scorer,
        model,
        rubric,
        unnest(
            from_json(
                swaps,
                '[{"attribute":"varchar","group_name":"varchar","reference_group":"varchar","n_texts":"bigint",'
                || '"difference":"double","interval_low":"double","interval_high":"double","p_value":"double",'
                || '"is_unequal":"boolean"}]'
            )
        ) as swap
    from judges
),

swaps as (
    select
        run_id,
        scorer,
        model,
        rubric,
        swap.attribute,
        swap.group_name,
        swap.reference_group,
        swap.n_texts,
        swap.difference,
        swap.interval_low,
        swap.interval_high,
        swap.p_value,
        swap.is_unequal
    from listed
)

{{ contracted("swaps") }}
