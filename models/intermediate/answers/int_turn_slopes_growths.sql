with

outcomes as (
    select
        run_id,
        prompt_id,
        trial,
        turn,
        conversation,
        n_asked,
        n,
        n_refused
    from {{ ref("int_answers_outcomes") }}
    where turn is not null
),

turn_values as (
    select
        run_id,
        prompt_id,
        trial,
        'refused' as scheme,
        cast(n_refused / n as double) as outcome_value
    from outcomes
    where n > 0
    {% for method in methods(with_output="turn_values") %}
        union all
        select
            run_id,
            prompt_id,
            trial,
            scheme,
            outcome_value
        from {{ ref("int_" ~ method ~ "_turn_values") }}
    {% endfor %}
),

contrasts as (
    select *
    from {{ ref("int_answers_contrasts") }}
    where reference_group not in ('(neutral)', '(others)')
),

units as (
    select *
    from {{ ref("int_answers_gap_units") }}
),

answers as (
    select
        contrasts.*,
        units.prompt_id,
        units.label,
        units.stratum,
        units.name_stratum,
        units.name,
        units.sampled,
        units.whole,
        outcomes.turn,
        outcomes.conversation,
        turn_values.scheme,
        turn_values.outcome_value
    from contrasts
    inner join units on contrasts.contrast_id = units.contrast_id
    inner join outcomes
        on
            contrasts.run_id = outcomes.run_id
            and units.prompt_id = outcomes.prompt_id
    inner join turn_values
        on
            outcomes.run_id = turn_values.run_id
            and outcomes.prompt_id = turn_values.prompt_id
            and outcomes.trial = turn_values.trial
),

-- How answers at the same turn differ: the unit of a difference between groups.
means_of_turns as (
    select
        contrast_id,
        scheme,
        turn,
        avg(outcome_value order by outcome_value) as mean_value
    from answers
    group by contrast_id, scheme, turn
),

deviations as (
    select
        answers.contrast_id,
        answers.scheme,
        pow(answers.outcome_value - means_of_turns.mean_value, 2) as squared
    from answers
    inner join means_of_turns
        on
            answers.contrast_id = means_of_turns.contrast_id
            and answers.scheme = means_of_turns.scheme
            and answers.turn = means_of_turns.turn
),

spreads as (
    select
        contrast_id,
        scheme,
        sqrt(avg(squared order by squared)) as spread
    from deviations
    group by contrast_id, scheme
    having avg(squared order by squared) > 1e-12
),

last_turns as (
    select
        contrast_id,
        stratum,
        max(turn) as last_turn
    from answers
    group by contrast_id, stratum
),

-- Least squares within each conversation, and what that comes to from its first turn to the last.
growths as (
    select
        answers.contrast_id,
        answers.run_id,
        answers.mitigation,
        answers.attribute,
        answers.group_name,
        answers.reference_group,
        answers.is_crossed,
        answers.prompt_id,
        answers.label,
        answers.stratum,
        answers.name_stratum,
        answers.name,
        answers.sampled,
        answers.whole,
        answers.conversation,
        answers.scheme,
        count(*) as n_turns,
        (
            sum(answers.turn * answers.outcome_value order by answers.turn)
            - sum(answers.turn) / count(*) * sum(answers.outcome_value order by answers.turn)
        ) / (sum(answers.turn * answers.turn) - sum(answers.turn) / count(*) * sum(answers.turn))
        * (any_value(last_turns.last_turn) - 1) / any_value(spreads.spread) as growth
    from answers
    inner join spreads
        on
            answers.contrast_id = spreads.contrast_id
            and answers.scheme = spreads.scheme
    inner join last_turns
        on
            answers.contrast_id = last_turns.contrast_id
            and answers.stratum = last_turns.stratum
    group by all
    having count(distinct answers.turn) > 1
),

numbered as (
    select
        *,
        dense_rank() over (partition by contrast_id, scheme, label order by prompt_id) as prompt_number
    from growths
),

counted as (
    select
        *,
        bool_and(name is not null) over of_scheme as has_names,
        least(
            max(if(label = 1, prompt_number, 0)) over of_scheme, max(if(label = 0, prompt_number, 0)) over of_scheme
        ) >= 5 as is_by_prompt
    from numbered
    window of_scheme as (partition by contrast_id, scheme)
),

turn_slopes_growths as (
    select
        * exclude (prompt_number),
        -- All conversations about one person move together where there are enough people, else each by itself.
        if(is_by_prompt, prompt_id, concat_ws(' | ', prompt_id, conversation)) as unit
    from counted
)

select * from turn_slopes_growths
