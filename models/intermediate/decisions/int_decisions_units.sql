{{ config(materialized="by_run") }}

with

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where (not is_unknown or is_refused or is_unread)
),

decisions_runs as (
    select
        run_id,
        labels,
        len(labels) - 1 as highest_label_rank,
        lowest_score,
        highest_score,
        has_no_selection
    from {{ ref("int_decisions_runs") }}
),

score_units as (
    select
        run_id,
        mitigation,
        scale
    from {{ run_rows("int_decisions_score_units") }}
),

refusals as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        sum(weight) filter (where is_refused) / sum(weight) as share_refused
    from people
    where not is_unread
    group by run_id, mitigation, attribute, group_name
),

-- Where one in twenty of a group was refused, selection is also judged with those who were as not selected; fewer could
-- hardly move a ratio, and would only take other findings' share of alpha.
refused_attributes as (
    select
        run_id,
        mitigation,
        attribute
    from refusals
    group by run_id, mitigation, attribute
    having max(share_refused) >= 0.05
),

-- Scores that are judged by ranks: their places among those of the same case or job, from 0 to 1.
scores_of_strata as (
    select
        people.pool_key,
        people.stratum,
        people.score,
        sum(people.weight) as n
    from people
    inner join score_units
        on
            people.run_id = score_units.run_id
            and people.mitigation = score_units.mitigation
    where
        score_units.scale = 'ranks'
        and people.score is not null
    group by people.pool_key, people.stratum, people.score
),

percentiles as (
    select
        *,
        (sum(n) over (partition by pool_key, stratum order by score) - n / 2)
        / sum(n) over (partition by pool_key, stratum) as percentile
    from scores_of_strata
),

ranged as (
    select
        people.*,
        case
            when refused_attributes.run_id is not null and not coalesce(decisions_runs.has_no_selection, false)
                then if(people.is_refused, 0, people.selected)
        end as selected_of_asked,
        case people.kind
            when 'label'
                then if(people.expected_label is null, 0, -decisions_runs.highest_label_rank)
            when 'ranking' then 0
            else decisions_runs.lowest_score
        end as lowest_rank_value,
        case people.kind
            when 'label' then decisions_runs.highest_label_rank
            when 'ranking' then people.n_candidates - 1
            else decisions_runs.highest_score
        end as highest_rank_value,
        list_position(decisions_runs.labels, people.expected_label) - 1 as expected_rank,
        bool_or(people.expected_label is not null) over (partition by people.run_id) as has_expected_labels,
        refused_attributes.run_id is not null as has_refusals,
        coalesce(score_units.scale = 'log', false) as is_relative,
        coalesce(score_units.scale = 'ranks', false) as is_ranked,
        percentiles.percentile,
        min(people.score) over (partition by people.run_id, people.mitigation) as lowest_read_score
    from people
    inner join decisions_runs on people.run_id = decisions_runs.run_id
    left join score_units
        on
            people.run_id = score_units.run_id
            and people.mitigation = score_units.mitigation
    left join percentiles
        on
            people.pool_key = percentiles.pool_key
            and people.stratum = percentiles.stratum
            and people.score = percentiles.score
    left join refused_attributes
        on
            people.run_id = refused_attributes.run_id
            and people.mitigation = refused_attributes.mitigation
            and people.attribute = refused_attributes.attribute
),

spans as (
    select
        pool_key,
        person,
        count(distinct concat_ws(' | ', stratum, paired_cluster)) > 1 as is_wide
    from people
    where
        person is not null
        and kind <> 'ranking'
    group by pool_key, person
),

outcomes as (
    select
        *,
        unnest(
            [
                cast(lowest_rank_value as double), 0, 0, 0, 0, 0,
                if(is_relative, ln(if(lowest_rank_value > 0, lowest_rank_value, lowest_read_score)), 0)
            ]
        ) as lowest_outcome,
        unnest(
            [cast(highest_rank_value as double), 1, 1, 1, 1, 1, if(is_relative, ln(highest_rank_value), 1)]
        ) as highest_outcome,
        unnest(
            [
                'rank_value', 'selected', 'selected_of_asked', 'correct', 'false_positive', 'false_negative',
                if(is_relative, 'relative', 'percentile')
            ]
        ) as outcome,
        unnest(
            [kind = 'label' and has_expected_labels, false, false, false, false, false, false]
        ) as has_expected_rank,
        unnest(
            [
                cast(rank_value as double), cast(selected as double), cast(selected_of_asked as double),
                cast(correct as double), if(should_be_selected = 0, cast(selected as double), null),
                if(should_be_selected = 1, 1 - cast(selected as double), null),
                if(is_relative, ln(score), percentile)
            ]
        ) as outcome_value
    from ranged
),

-- Whether people, such as customers, are in several strata.
described as (
    select
        outcomes.*,
        coalesce(bool_or(spans.is_wide) over (partition by outcomes.pool_key), false) as moves_people
    from outcomes
    left join spans
        on
            outcomes.pool_key = spans.pool_key
            and outcomes.person = spans.person
),

-- The permuted unit, inside its stratum: paired data, all answers about a resume under the names of one group;
-- rankings, a name with all its runs; unpaired data, one person. Customers and conversations are people if they belong
-- to one group each; in others, what they hold of one group moves as one. Reused names, and people who belong to
-- several strata, are also permuted with all their rows.
placed as (
    select
        * replace (if(moves_people, person, person_name) as person_name),
        case
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups, group_name, descriptor)
            when is_paired
                then concat_ws(
                    ' | ', template, domain, subject, other_groups, group_name, person, paired_cluster
                )
            when person is not null then concat_ws(' | ', domain, group_name, person, paired_cluster)
            when subject <> '' then concat_ws(' | ', domain, subject, other_groups, group_name, descriptor)
            else coalesce(group_name || ' | ' || paired_cluster, prompt_id)
        end as unit,
        case
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups, group_name, descriptor)
            when paired_cluster is not null then paired_cluster
            when is_paired then concat_ws(' | ', domain, subject)
            when person is not null then person
            when subject <> '' then concat_ws(' | ', domain, subject, other_groups, group_name, descriptor)
            else prompt_id
        end as cluster,
        -- A subject of its own: not a version of one resume, nor a neutral question.
        not is_paired and kind <> 'ranking' and (subject <> '' or person is not null) as is_person,
        -- Range of an unread answer's outcome: a label is compared with the right one of its own case.
        if(has_expected_rank, -expected_rank, lowest_outcome) as lowest_possible,
        if(has_expected_rank, highest_outcome - expected_rank, highest_outcome) as highest_possible
    from described
    where
        outcome_value is not null
        or (
            is_unread
            and case outcome
                when 'correct' then expected_label is not null
                when 'false_positive' then coalesce(should_be_selected = 0, false)
                when 'false_negative' then coalesce(should_be_selected = 1, false)
                when 'relative' then true
                when 'percentile' then is_ranked
                when 'selected_of_asked' then has_refusals
                else not has_expected_rank or expected_label is not null
            end
        )
),

-- Other attributes that a name states move with it: a name of one gender changes its race among the names of that
-- gender. Attributes that vary within a name do not move.
name_strata as (
    select
        pool_key,
        group_name,
        person_name,
        concat_ws(
            ' | ',
            if(count(distinct other_groups) = 1, min(other_groups), '*'),
            if(count(distinct block) = 1, 'block ' || min(block), null)
        ) as name_stratum
    from placed
    where person_name is not null
    group by pool_key, group_name, person_name
),

units as (
    select
        placed.pool_key,
        placed.run_id,
        placed.mitigation,
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
        -- The questions, by their content: runs with the same ones share the unit.
        md5(
            string_agg(
                distinct placed.prompt_id || ':' || placed.slot, ' ' order by placed.prompt_id || ':' || placed.slot
            )
        ) as asked,
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
        -- Answers that were read; a unit may have none of these.
        coalesce(sum(placed.weight) filter (where placed.outcome_value is not null), 0) as n,
        coalesce(
            sum(placed.weight * placed.outcome_value order by placed.prompt_id, placed.trial, placed.slot), 0
        ) as total,
        coalesce(sum(placed.weight) filter (where placed.is_unread), 0) as n_unread,
        coalesce(sum(placed.weight * placed.lowest_possible) filter (where placed.is_unread), 0) as unread_lowest,
        coalesce(sum(placed.weight * placed.highest_possible) filter (where placed.is_unread), 0) as unread_highest
    from placed
    left join name_strata
        on
            placed.pool_key = name_strata.pool_key
            and placed.group_name = name_strata.group_name
            and placed.person_name = name_strata.person_name
    group by
        placed.pool_key, placed.run_id, placed.mitigation, placed.outcome, placed.judged_domain,
        placed.attribute, placed.group_name, placed.is_paired, placed.is_person, placed.stratum, placed.unit,
        placed.cluster, placed.person_name, name_strata.name_stratum
),

-- Unread answers cannot have an outcome that no answer of the pool has, such as the rank of labels without an order.
possible_units as (
    select *
    from units
    qualify sum(n) over (partition by pool_key, outcome) > 0
)

select * from possible_units
