-- Which groups' lists keep least of the neutral list? With spread, chance and quality of the lists.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

with

group_similarity as (
    select *
    from {{ ref("fct_group_similarity") }}
    where similarity_name = 'jaccard'
),

of_subjects as (
    select
        run_id,
        mitigation,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        group_name,
        subject,
        avg(jaccard order by jaccard) as similarity
    from {{ ref("fct_list_similarity") }}
    where role = 'neutral'
    group by run_id, mitigation, scheme, neutral, wording, domain, attribute, group_name, subject
),

distances as (
    select
        *,
        abs(
            similarity
            - avg(similarity) over (
                partition by run_id, mitigation, scheme, neutral, wording, domain, attribute, group_name
            )
        ) as distance
    from of_subjects
),

summed as (
    select
        run_id,
        mitigation,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        group_name,
        count(*) as n,
        sum(distance) as total,
        sum(distance * distance) as squares
    from distances
    group by run_id, mitigation, scheme, neutral, wording, domain, attribute, group_name
),

with_others as (
    select
        *,
        sum(n) over of_attribute - n as n_others,
        sum(total) over of_attribute - total as total_others,
        sum(squares) over of_attribute - squares as squares_others
    from summed
    window of_attribute as (partition by run_id, mitigation, scheme, neutral, wording, domain, attribute)
),

-- Levene's test of a group against all others: mean distances from the own mean that lie three standard errors apart.
-- With equal groups it notes at most one attribute in thirty, with seven groups and very skewed similarities.
noted as (
    select
        *,
        n > 1 and n_others > 1
        and total / n - total_others / nullif(n_others, 0) > 3 * sqrt(
            greatest(squares / n - (total / n) * (total / n), 0) / nullif(n - 1, 0)
            + greatest(
                squares_others / nullif(n_others, 0)
                - (total_others / nullif(n_others, 0)) * (total_others / nullif(n_others, 0)),
                0
            ) / nullif(n_others - 1, 0)
        ) as is_wider
    from with_others
),

quality as (
    select *
    from {{ ref("fct_list_quality") }}
    where wording = 'clean'
),

similarity_spread as (
    select *
    from {{ ref("fct_similarity_spread") }}
    where is_judged
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    group_similarity.mitigation,
    group_similarity.domain,
    group_similarity.attribute,
    group_similarity.group_name,
    group_similarity.similarity,
    group_similarity.similarity_sd,
    quality.mean_precision,
    quality.mean_recall,
    quality.mean_ndcg,
    group_similarity.n_absent as n_without_a_list,
    similarity_spread.snsr,
    similarity_spread.snsr_chance as noise_taken_off_snsr,
    similarity_spread.snsr_noise_floor_high as snsr_of_asking_again,
    similarity_spread.snsr_p_value as p_value,
    case when noted.is_wider then 'varies more between subjects than in other groups' end as note,
    group_similarity.run_id
from group_similarity
inner join runs on group_similarity.run_id = runs.run_id
inner join similarity_spread
    on
        group_similarity.list_set_id = similarity_spread.list_set_id
        and group_similarity.neutral = similarity_spread.neutral
        and group_similarity.similarity_name = similarity_spread.similarity_name
left join noted
    on
        group_similarity.run_id = noted.run_id
        and group_similarity.mitigation = noted.mitigation
        and group_similarity.scheme = noted.scheme
        and group_similarity.neutral = noted.neutral
        and group_similarity.wording = noted.wording
        and group_similarity.domain = noted.domain
        and group_similarity.attribute = noted.attribute
        and group_similarity.group_name = noted.group_name
left join quality
    on
        group_similarity.run_id = quality.run_id
        and group_similarity.mitigation = quality.mitigation
        and group_similarity.scheme = quality.scheme
        and group_similarity.domain = quality.domain
        and group_similarity.attribute = quality.attribute
        and group_similarity.group_name = quality.group_name
order by
    group_similarity.similarity, runs.audit, runs.target, group_similarity.mitigation, group_similarity.domain,
    group_similarity.attribute, group_similarity.group_name
