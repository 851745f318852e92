with

-- A list's similarity to the neutral ones that are judged, and what became of it.
list_values as (
    select
        responses.run_id,
        responses.prompt_id,
        responses.trial,
        responses.mitigation,
        responses.scheme,
        responses.domain,
        responses.wording,
        responses.attribute,
        responses.group_name,
        responses.subject,
        responses.unanswered,
        responses.shortfall,
        responses.repeated,
        avg(
            case lists_runs.similarity
                when 'jaccard' then pairs.jaccard
                when 'serp' then pairs.serp
                when 'prag' then pairs.prag
            end
            order by pairs.other_prompt_id, pairs.other_trial
        ) as similarity
    from {{ ref("int_lists_responses") }} as responses
    inner join {{ ref("int_lists_runs") }} as lists_runs
        on
            responses.run_id = lists_runs.run_id
            and lists_runs.schemes[1] = responses.scheme
    left join {{ ref("int_lists_similarities") }} as pairs
        on
            responses.run_id = pairs.run_id
            and responses.prompt_id = pairs.prompt_id
            and responses.trial = pairs.trial
            and responses.scheme = pairs.scheme
            and responses.attribute = pairs.attribute
            and pairs.role = 'neutral'
            and pairs.is_judged_neutral
    where responses.attribute is not null
    group by all
),

measured_lists as (
    select
        *,
        unnest(['snsr', 'snsv', 'unanswered_spread', 'shortfall_spread', 'repeat_spread']) as measure,
        -- The standard deviation of two wordings is half of the range.
        unnest([similarity, similarity / 2, unanswered, shortfall, repeated]) as value
    from list_values
),

lists as (
    select
        lists_of_groups.run_id,
        lists_of_groups.mitigation,
        lists_of_groups.measure,
        if(
            lists_of_groups.measure in ('snsr', 'snsv'), lists_runs.similarity, lists_of_groups.scheme
        ) as scheme,
        concat_ws(', ', nullif(lists_of_groups.domain, ''), nullif(lists_of_groups.wording, 'clean')) as subject,
        lists_of_groups.attribute,
        lists_of_groups.group_name,
        lists_of_groups.prompt_id || ' | ' || lists_of_groups.trial as unit,
        lists_of_groups.subject as stratum,
        groups_of_prompts.descriptors as wording,
        cast(1 as double) as n,
        cast(lists_of_groups.value as double) as total
    from measured_lists as lists_of_groups
    inner join {{ ref("int_lists_runs") }} as lists_runs on lists_of_groups.run_id = lists_runs.run_id
    inner join {{ ref("int_prompt_groups") }} as groups_of_prompts
        on
            lists_of_groups.run_id = groups_of_prompts.run_id
            and lists_of_groups.prompt_id = groups_of_prompts.prompt_id
            and lists_of_groups.attribute = groups_of_prompts.attribute
            and groups_of_prompts.slot = 1
    where lists_of_groups.value is not null
)

select * from lists
