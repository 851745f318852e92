-- Which accuracy, divergence and marked words does the source's report have for each axis?
{{ config(enabled='words' in env_var('BIASLEDGER_METHODS', 'words')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
),

words as (
    select
        contrast_id,
        z_score,
        word,
        is_borderline_published,
        row_number() over (
            partition by contrast_id, is_borderline_published order by z_score desc, word asc
        ) as word_rank
    from {{ ref("fct_marked_words") }}
    where
        scheme = 'seed'
        and z_score > 0
        and (is_marked_published or is_borderline_published)
),

words_of_contrasts as (
    select
        contrast_id,
        string_agg(
            concat(
                word, ' (', cast(z_score as decimal(9, 2)), case when is_borderline_published then '*' else '' end, ')'
            ),
            ', ' order by z_score desc, word asc
        ) as marked_words
    from words
    where word_rank <= case when is_borderline_published then 3 else 10 end
    group by contrast_id
)

select
    runs.audit,
    runs.target,
    accuracies.mitigation,
    accuracies.attribute,
    accuracies.group_name,
    accuracies.reference_group,
    concat(
        cast(accuracies.published_accuracy_mean as decimal(9, 2)), ' ± ',
        cast(accuracies.published_accuracy_sd as decimal(9, 2))
    ) as accuracy,
    accuracies.published_band as band,
    divergences.jsd_nats,
    coalesce(words_of_contrasts.marked_words, 'no significant words') as marked_words,
    accuracies.run_id
from {{ ref("fct_classifier_accuracy") }} as accuracies
inner join runs on accuracies.run_id = runs.run_id
inner join {{ ref("fct_word_divergence") }} as divergences
    on
        accuracies.contrast_id = divergences.contrast_id
        and accuracies.scheme = divergences.scheme
left join words_of_contrasts on accuracies.contrast_id = words_of_contrasts.contrast_id
where
    accuracies.scheme = 'seed_vectors'
    and accuracies.comparison <> 'all_groups'
order by
    runs.audit asc, runs.target asc, accuracies.mitigation asc, accuracies.attribute asc, divergences.jsd_nats desc,
    accuracies.group_name asc, accuracies.reference_group asc, accuracies.run_id asc
