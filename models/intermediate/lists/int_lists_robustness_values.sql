with

lists_runs as (
    select
        run_id,
        similarity
    from {{ ref("int_lists_runs") }}
),

responses as (
    select *
    from {{ ref("int_lists_responses") }}
    where has_list
),

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
),

similarities as (
    select *
    from {{ ref("int_lists_similarities") }}
),

compared as (
    select
        responses.run_id,
        responses.lists_key,
        responses.variant,
        responses.scheme,
        responses.wording,
        responses.domain,
        responses.subject,
        responses.attribute,
        responses.group_name,
        pairs.role,
        case lists_runs.similarity
            when 'serp' then similarities.serp
            when 'prag' then similarities.prag
            else similarities.jaccard
        end as similarity
    from pairs
    inner join lists_runs on pairs.run_id = lists_runs.run_id
    inner join responses
        on
            pairs.run_id = responses.run_id
            and pairs.scheme = responses.scheme
            and pairs.prompt_id = responses.prompt_id
            and pairs.trial = responses.trial
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
),

-- The noise floor: how alike a subject's lists are when the same question is asked again in the same words.
rerun_similarities as (
    select
        run_id,
        variant,
        scheme,
        domain,
        subject,
        avg(similarity) as rerun_similarity
    from compared
    where
        role = 'rerun'
        and wording = 'clean'
    group by run_id, variant, scheme, domain, subject
),

worded_by_attribute as (
    select
        run_id,
        variant,
        scheme,
        wording,
        domain,
        attribute,
        subject,
        avg(similarity) as similarity
    from compared
    where role = 'clean'
    group by run_id, variant, scheme, wording, domain, attribute, subject
),

worded as (
    select * from worded_by_attribute
    union all by name
    select
        run_id,
        variant,
        scheme,
        wording,
        domain,
        '(all)' as attribute,
        subject,
        avg(similarity) as similarity
    from worded_by_attribute
    group by run_id, variant, scheme, wording, domain, subject
),

robustness_values as (
    select
        worded.*,
        rerun_similarities.rerun_similarity
    from worded
    left join rerun_similarities
        on
            worded.run_id = rerun_similarities.run_id
            and worded.variant = rerun_similarities.variant
            and worded.scheme = rerun_similarities.scheme
            and worded.domain = rerun_similarities.domain
            and worded.subject is not distinct from rerun_similarities.subject
)

select * from robustness_values
