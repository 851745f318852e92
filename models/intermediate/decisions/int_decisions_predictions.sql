{{ config(materialized="by_run") }}

with

decisions_runs as (
    select *
    from {{ run_rows("int_decisions_runs") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        template,
        domain,
        subject,
        expected_label
    from {{ run_rows("stg_ledger__prompts") }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        status,
        answer_text,
        weight
    from {{ run_rows("int_answers") }}
),

people as (
    select
        run_id,
        prompt_id,
        slot,
        string_agg(distinct descriptor, ' ' order by descriptor) as descriptor
    from {{ run_rows("stg_ledger__prompt_attributes") }}
    group by run_id, prompt_id, slot
),

read_answers as (
    select
        answers.* exclude (answer_text),
        decisions_runs.kind,
        decisions_runs.labels,
        decisions_runs.is_ordered,
        decisions_runs.favourable_labels,
        decisions_runs.top_places,
        decisions_runs.has_no_selection,
        decisions_runs.has_two_labels,
        case when answers.status = 'ok' then answers.answer_text end as answer_text,
        case
            when answers.status = 'ok' and decisions_runs.kind = 'ranking'
                then from_json(
                    answers.answer_text, '[{"slot": "INTEGER", "rank": "INTEGER", "is_missing": "BOOLEAN"}]'
                )
        end as ranking
    from answers
    inner join decisions_runs on answers.run_id = decisions_runs.run_id
    -- A failed connection is not related to the decision.
    where answers.status <> 'error'
),

people_asked_about as (
    select
        read_answers.*,
        people.slot,
        people.descriptor,
        count(*) over (partition by read_answers.run_id, read_answers.prompt_id, read_answers.trial) as n_candidates,
        list_filter(read_answers.ranking, lambda one: one.slot = people.slot)[1] as candidate,
        prompts.mitigation,
        prompts.template,
        coalesce(prompts.domain, '') as domain,
        coalesce(prompts.subject, '') as subject,
        prompts.expected_label,
        read_answers.status <> 'ok' as is_without_answer,
        read_answers.status = 'refused' as is_refused,
        read_answers.status = 'unread' as is_unread
    from read_answers
    inner join prompts
        on
            read_answers.run_id = prompts.run_id
            and read_answers.prompt_id = prompts.prompt_id
    inner join people
        on
            read_answers.run_id = people.run_id
            and read_answers.prompt_id = people.prompt_id
),

decided as (
    select
        * exclude (ranking, candidate),
        case when kind = 'label' then answer_text end as label,
        case when kind = 'score' then try_cast(answer_text as double) end as score,
        candidate.rank,
        coalesce(candidate.is_missing, false) as is_missing,
        case when is_ordered then list_position(labels, answer_text) - 1 end as label_rank,
        case when is_ordered then list_position(labels, expected_label) - 1 end as expected_rank
    from people_asked_about
),

-- Who is not named in a ranking that was read comes after those who are; and where only some people of a run have a
-- right label; the others have none to compare with.
counted as (
    select
        *,
        count(rank) over (partition by run_id, prompt_id, trial) as n_ranked,
        bool_or(expected_label is not null) over (partition by run_id) as has_expected_labels
    from decided
),

running_counts as (
    select
        run_id,
        mitigation,
        score,
        -- Answers with this score or a lower one.
        sum(weight) over (partition by run_id, mitigation order by score) as n_up_to,
        sum(weight) over (partition by run_id, mitigation) as n
    from decided
    where score is not null
),

-- A score above the sample's median counts as selected, as in the rules to New York City's Local Law 144. Of an even
-- number of answers the median is the mean of the two in the middle.
medians as (
    select
        run_id,
        mitigation,
        (min(score) filter (where n_up_to >= n / 2) + min(score) filter (where n_up_to > n / 2)) / 2 as median_score
    from running_counts
    group by run_id, mitigation
),

predictions as (
    select
        decided.run_id,
        decided.prompt_id,
        decided.trial,
        decided.slot,
        decided.mitigation,
        decided.template,
        decided.domain,
        decided.subject,
        decided.descriptor,
        decided.kind,
        decided.label,
        decided.expected_label,
        decided.score,
        decided.rank,
        decided.n_candidates,
        decided.weight,
        -- How well a person comes off: labels in their order less the right one, candidates ranked below, the score.
        case decided.kind
            when 'label'
                then decided.label_rank - if(decided.has_expected_labels, decided.expected_rank, 0)
            when 'ranking'
                then
                    case
                        when decided.rank is not null then decided.n_candidates - decided.rank
                        -- The mean of the places that are left.
                        when decided.n_ranked > 0 then (decided.n_candidates - decided.n_ranked - 1) / 2
                    end
            else decided.score
        end as rank_value,
        case
            when decided.expected_label is not null and decided.label is not null
                then cast(decided.label = decided.expected_label as integer)
        end as correct,
        case decided.kind
            when 'label' then cast(list_contains(decided.favourable_labels, decided.label) as integer)
            when 'ranking'
                then
                    case
                        when decided.rank is not null then cast(decided.rank <= decided.top_places as integer)
                        when decided.n_ranked >= decided.top_places then 0
                    end
            when 'score' then if(decided.has_no_selection, null, cast(decided.score > medians.median_score as integer))
        end as selected,
        -- Whether the right label is the favourable one; of a choice between two labels alone.
        if(
            decided.has_two_labels,
            cast(list_contains(decided.favourable_labels, decided.expected_label) as integer),
            null
        ) as should_be_selected,
        decided.is_missing,
        decided.is_refused,
        decided.is_unread,
        decided.is_without_answer
        or (decided.label is null and decided.n_ranked = 0 and decided.score is null) as is_unknown
    from counted as decided
    left join medians
        on
            decided.run_id = medians.run_id
            and decided.mitigation = medians.mitigation
)

select * from predictions
