{%- set runs = new_runs(ref("int_decisions_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_decisions_runs") }}

with

people as (
    select *
    from {{ ref("int_decisions_people") }}
    where
        (not is_unknown or is_refused)
        and {{ is_of_runs("run_id", runs) }}
),

decisions_runs as (
    select
        run_id,
        len(labels) - 1 as highest_label_rank,
        lowest_score,
        highest_score
    from {{ ref("int_decisions_runs") }}
),

refusals as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        sum(weight) filter (where is_refused) / sum(weight) as share_refused
    from people
    group by run_id, variant, attribute, group_name
),

-- Where one in twenty of a group was refused, selection is also judged with those who were as not selected; fewer could
-- hardly move a ratio, and would only take other findings' share of alpha.
refused_attributes as (
    select
        run_id,
        variant,
        attribute
    from refusals
    group by run_id, variant, attribute
    having max(share_refused) >= 0.05
),

ranged as (
    select
        people.*,
        case
            when refused_attributes.run_id is not null then if(people.is_refused, 0, people.selected)
        end as selected_of_asked,
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
    left join refused_attributes
        on
            people.run_id = refused_attributes.run_id
            and people.variant = refused_attributes.variant
            and people.attribute = refused_attributes.attribute
),

outcomes as (
    select
        *,
        unnest([cast(lowest_standing as double), 0, 0, 0]) as lowest_outcome,
        unnest([cast(highest_standing as double), 1, 1, 1]) as highest_outcome,
        unnest(['standing', 'selected', 'selected_of_asked', 'correct']) as outcome,
        unnest(
            [
                cast(standing as double), cast(selected as double), cast(selected_of_asked as double),
                cast(correct as double)
            ]
        ) as outcome_value
    from ranged
),

-- What moves as a whole when labels are permuted, and inside what: paired, all answers about a resume under the names
-- of one group, inside the resume; rankings, a name with all its runs, inside the job; unpaired, one person, inside
-- the job. Where names are reused they move, too, with all their rows.
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
        end as cluster,
        -- Of their own: not versions of one resume, nor questions about nobody in particular.
        not is_paired and kind <> 'ranking' and subject <> '' as is_person
    from outcomes
    where outcome_value is not null
),

-- What a name states besides moves with it: a name that stands for one gender changes its race among the names of that
-- gender. What varies within a name stays behind.
name_strata as (
    select
        pool_key,
        group_name,
        person_name,
        if(count(distinct other_groups) = 1, min(other_groups), '*') as name_stratum
    from placed
    where person_name is not null
    group by pool_key, group_name, person_name
),

units as (
    select
        placed.pool_key,
        placed.run_id,
        placed.run_state,
        placed.variant,
        placed.outcome,
        placed.judged_domain as domain,
        placed.attribute,
        placed.group_name,
        placed.is_paired,
        placed.is_person,
        placed.stratum,
        placed.unit,
        placed.cluster,
        placed.person_name,
        name_strata.name_stratum,
        -- The range that an outcome can have.
        min(placed.lowest_outcome) as lowest_outcome,
        max(placed.highest_outcome) as highest_outcome,
        -- The rivals in a ranking; of several lengths, the one whose rivals correlate as theirs do on average.
        coalesce(
            round(
                1 + sum(placed.weight) filter (where placed.kind = 'ranking' and placed.n_candidates > 1)
                / sum(placed.weight / (placed.n_candidates - 1)) filter (
                    where placed.kind = 'ranking' and placed.n_candidates > 1
                ), 9
            ), 1
        ) as n_candidates,
        sum(placed.weight) as n,
        sum(placed.weight * placed.outcome_value order by placed.prompt_id, placed.trial, placed.slot) as total
    from placed
    left join name_strata
        on
            placed.pool_key = name_strata.pool_key
            and placed.group_name = name_strata.group_name
            and placed.person_name = name_strata.person_name
    group by
        placed.pool_key, placed.run_id, placed.run_state, placed.variant, placed.outcome, placed.judged_domain,
        placed.attribute, placed.group_name, placed.is_paired, placed.is_person, placed.stratum, placed.unit,
        placed.cluster, placed.person_name, name_strata.name_stratum
)

select * from units
