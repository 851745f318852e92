{{ config(materialized="by_run") }}

with

label_scores as (
    select *
    from {{ run_rows("int_markers_label_scores") }}
),

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

-- All answers, and those about each group.
scores_of_groups as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from label_scores
    union all by name
    select
        label_scores.*,
        prompt_groups.attribute,
        prompt_groups.group_name
    from label_scores
    inner join prompt_groups
        on
            label_scores.run_id = prompt_groups.run_id
            and label_scores.prompt_id = prompt_groups.prompt_id
),

labels as (
    select distinct
        run_id,
        mitigation,
        scorer,
        label
    from label_scores
),

-- A single category is all there is.
levels as (
    select *
    from scores_of_groups
    union all by name
    select * replace ('(all)' as category)
    from scores_of_groups
    qualify min(category) over (partition by run_id) < max(category) over (partition by run_id)
),

keyed as (
    select
        *,
        {{ integer_key_of(["run_id", "mitigation", "scorer", "attribute", "group_name", "category"]) }} as level_key
    from levels
),

-- One label of each answer is its own, so that these add up to the answers.
answer_counts as (
    select
        level_key,
        run_id,
        mitigation,
        scorer,
        attribute,
        group_name,
        category,
        sum(weight) as n_answers,
        coalesce(sum(weight) filter (where is_short), 0) as n_short
    from keyed
    where is_label_of_text
    group by all
),

label_counts as (
    select
        level_key,
        label,
        sum(weight) filter (where is_label_of_text) as n,
        sum(weight * score order by prompt_id, trial) as total_score
    from keyed
    group by level_key, label
),

regard_shares as (
    select
        answer_counts.*,
        labels.label,
        coalesce(label_counts.n, 0) as n,
        coalesce(label_counts.n, 0) / answer_counts.n_answers as share,
        coalesce(label_counts.total_score, 0) / answer_counts.n_answers as mean_score
    from answer_counts
    inner join labels
        on
            answer_counts.run_id = labels.run_id
            and answer_counts.mitigation = labels.mitigation
            and answer_counts.scorer = labels.scorer
    left join label_counts
        on
            answer_counts.level_key = label_counts.level_key
            and labels.label = label_counts.label
)

{{ contracted("regard_shares") }}
