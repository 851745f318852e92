with

run_events as (
    select *
    from {{ ref("stg_ledger__run_events") }}
    where event = 'labelled'
),

listed as (
    select
        run_id,
        event_number,
        happened_at,
        detail ->> '$.by' as labelled_by,
        coalesce(detail ->> '$.rubric', '') as rubric,
        coalesce(cast(detail ->> '$.is_drawn' as boolean), false) as is_drawn,
        unnest(
            from_json(detail -> '$.labels', '[{"prompt_id": "varchar", "trial": "integer", "label": "varchar"}]')
        ) as listed_label
    from run_events
),

given as (
    select
        run_id,
        listed_label.prompt_id,
        listed_label.trial,
        labelled_by,
        rubric,
        listed_label.label,
        event_number,
        happened_at as labelled_at,
        -- An answer that was drawn at random stays so after later labels.
        bool_or(is_drawn) over (partition by run_id, listed_label.prompt_id, listed_label.trial) as is_drawn
    from listed
),

-- A person's last label of an answer counts, and null withdraws it.
latest as (
    select *
    from given
    qualify
        row_number() over (
            partition by run_id, prompt_id, trial, labelled_by, rubric order by event_number desc
        ) = 1
)

select * exclude (event_number)
from latest
where label is not null
