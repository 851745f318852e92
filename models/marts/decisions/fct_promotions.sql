{{ config(materialized="by_run") }}

with

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where
        is_paired
        and rank_value is not null
),

complete_subjects as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject
    from {{ run_rows("fct_prediction_consistency") }}
    where is_complete
),

compared as (
    select
        people.run_id,
        people.mitigation,
        people.attribute,
        people.group_name,
        people.weight,
        people.rank_value,
        sum(people.weight * people.rank_value) over versions / sum(people.weight) over versions as mean_rank_value
    from people
    inner join complete_subjects
        on
            people.run_id = complete_subjects.run_id
            and people.mitigation = complete_subjects.mitigation
            and people.template = complete_subjects.template
            and people.domain = complete_subjects.domain
            and people.subject = complete_subjects.subject
    window
        versions as (
            partition by
                people.run_id, people.mitigation, people.attribute, people.template, people.domain, people.subject
            order by people.prompt_id, people.trial
            rows between unbounded preceding and unbounded following
        )
),

-- More than 0.01 above or below the mean of the same subject's versions, as the source has it.
promotions as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        sum(weight) as n_predictions,
        coalesce(sum(weight) filter (where rank_value > mean_rank_value + 0.01), 0) as n_promotions,
        coalesce(sum(weight) filter (where rank_value < mean_rank_value - 0.01), 0) as n_demotions,
        n_promotions - n_demotions as net
    from compared
    group by run_id, mitigation, attribute, group_name
)

{{ contracted("promotions") }}
