with

people as (
    select *
    from {{ ref("int_decisions_people") }}
    where not is_unknown
),

decisions_runs as (
    select
        run_id,
        len(labels) - 1 as highest_label_rank,
        lowest_score,
        highest_score
    from {{ ref("int_decisions_runs") }}
),

ranged as (
    select
        people.*,
        case people.kind
            when 'label'
                then if(people.expected_label is null, 0, -decisions_runs.highest_label_rank)
            when 'ranking' then 0
            else decisions_runs.lowest_score
        end as lowest_standing,
        case people.kind
            when 'label' then decisions_runs.highest_label_rank
            when 'ranking' then people.n_candidates - 1
            else decisions_runs.highest_score
        end as highest_standing
    from people
    inner join decisions_runs on people.run_id = decisions_runs.run_id
),

outcomes as (
    select
        *,
        unnest([cast(lowest_standing as double), 0, 0]) as lowest_outcome,
        unnest([cast(highest_standing as double), 1, 1]) as highest_outcome,
        unnest(['standing', 'selected', 'correct']) as outcome,
        unnest([cast(standing as double), cast(selected as double), cast(correct as double)]) as outcome_value
    from ranged
),

-- What moves as a whole when labels are permuted, and inside what: paired, all answers about a resume under the names
-- of one group, inside the resume; rankings, a name with all its runs, inside the job; unpaired, one person, inside
-- the job.
placed as (
    select
        *,
        case
            when is_paired then concat_ws(' | ', template, domain, subject, other_groups)
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups)
            else domain
        end as stratum,
        case
            when is_paired then concat_ws(' | ', template, domain, subject, other_groups, group_name)
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups, group_name, carrier)
            when subject = '' then prompt_id
            else concat_ws(' | ', domain, subject, other_groups, group_name, carrier)
        end as unit,
        case
            when is_paired then concat_ws(' | ', domain, subject)
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups, group_name, carrier)
            when subject = '' then prompt_id
            else concat_ws(' | ', domain, subject, other_groups, group_name, carrier)
        end as cluster
    from outcomes
    where outcome_value is not null
),

units as (
    select
        run_id,
        variant,
        outcome,
        judged_domain as domain,
        attribute,
        group_name,
        is_paired,
        stratum,
        unit,
        cluster,
        -- The range that an outcome can have, and the rivals in a ranking.
        min(lowest_outcome) as lowest_outcome,
        max(highest_outcome) as highest_outcome,
        max(case when kind = 'ranking' then n_candidates else 1 end) as n_candidates,
        sum(weight) as n,
        sum(weight * outcome_value order by prompt_id, trial, slot) as total
    from placed
    group by all
)

select * from units
