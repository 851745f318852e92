{{ config(materialized="by_run") }}

{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by prompt_id, trial, other_prompt_id, other_trial" %}

with

responses as (
    select *
    from {{ run_rows("int_lists_responses") }}
    where attribute is not null
),

pairs as (
    select *
    from {{ run_rows("int_lists_similarities") }}
    where
        role = 'neutral'
        and is_included
),

lists_runs as (
    select
        run_id,
        personality
    from {{ ref("int_lists_runs") }}
),

-- Values of a subject's answers about a group, with or without a neutral list to compare with.
answered as (
    select
        list_set_id,
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        attribute,
        is_crossed,
        group_name,
        subject,
        avg(unanswered order by prompt_id, trial) as unanswered,
        avg(shortfall order by prompt_id, trial) as shortfall,
        avg(repeated order by prompt_id, trial) as repeated,
        avg(ndcg order by prompt_id, trial) as ndcg
    from responses
    group by all
),

compared as (
    select
        list_set_id,
        neutral,
        group_name,
        subject,
        avg(jaccard {{ order }}) as jaccard,
        avg(serp {{ order }}) as serp,
        avg(prag {{ order }}) as prag,
        avg(serp_code {{ order }}) as serp_code,
        avg(prag_code {{ order }}) as prag_code
    from pairs
    group by list_set_id, neutral, group_name, subject
),

-- Of several neutral prompts, the one with most compared subjects is judged.
neutrals as (
    select
        run_id,
        mitigation,
        scheme,
        neutral,
        wording,
        attribute,
        bool_or(is_judged_neutral)
        and row_number() over (
            partition by run_id, mitigation, scheme, wording, attribute
            order by bool_or(is_judged_neutral) desc, count(distinct subject) desc, neutral asc
        ) = 1 as is_judged_neutral
    from pairs
    group by run_id, mitigation, scheme, neutral, wording, attribute
),

-- Every question asked about a group has a row, without similarities where there was no list.
values_of_attributes as (
    select
        answered.*,
        neutrals.neutral,
        neutrals.is_judged_neutral,
        compared.jaccard,
        compared.serp,
        compared.prag,
        compared.serp_code,
        compared.prag_code
    from answered
    inner join neutrals
        on
            answered.run_id = neutrals.run_id
            and answered.mitigation = neutrals.mitigation
            and answered.scheme = neutrals.scheme
            and answered.wording = neutrals.wording
            and answered.attribute = neutrals.attribute
    left join compared
        on
            answered.list_set_id = compared.list_set_id
            and answered.group_name = compared.group_name
            and answered.subject = compared.subject
            and neutrals.neutral = compared.neutral
),

-- All groups of all attributes side by side, the people described by who they are rather than by their personality.
values_of_all_groups as (
    select
        values_of_attributes.* replace (
            {{ list_set_id("values_of_attributes", attribute="'(all)'") }} as list_set_id,
            '(all)' as attribute,
            values_of_attributes.attribute || ': ' || values_of_attributes.group_name as group_name
        )
    from values_of_attributes
    inner join lists_runs on values_of_attributes.run_id = lists_runs.run_id
    where
        not values_of_attributes.is_crossed
        and values_of_attributes.attribute is distinct from lists_runs.personality
        and values_of_attributes.wording = 'clean'
),

group_values as (
    select * from values_of_attributes
    union all by name
    select * from values_of_all_groups
),

keyed_values as (
    select
        {{ key_of(["list_set_id", "neutral"]) }} as values_key,
        *
    from group_values
)

-- Integer codes are for the Python model.
select
    *,
    cast(dense_rank() over (partition by values_key order by subject) - 1 as integer) as subject_id,
    cast(dense_rank() over (partition by values_key order by group_name) - 1 as integer) as label
from keyed_values
