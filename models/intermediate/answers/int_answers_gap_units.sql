{{ config(materialized="by_run") }}

with

gap_prompts as (
    select *
    from {{ run_rows("int_answers_gap_prompts") }}
),

subjects as (
    select
        contrast_id,
        domain,
        subject,
        count(distinct label) as n_labels
    from gap_prompts
    where subject <> ''
    group by contrast_id, domain, subject
),

-- The same subject asked about in both groups, whatever came back, is its own control; an applicant who stands there
-- once is a person.
pairings as (
    select
        contrast_id,
        avg(cast(n_labels > 1 as integer)) > 0.5 as has_pairs
    from subjects
    group by contrast_id
),

described as (
    select
        gap_prompts.*,
        pairings.has_pairs,
        gap_prompts.subject <> '' and not pairings.has_pairs as is_person,
        concat_ws(
            ' | ', gap_prompts.template, gap_prompts.language, gap_prompts.perturbation, gap_prompts.domain
        ) as wording,
        concat_ws(' | ', gap_prompts.domain, gap_prompts.subject) as subject_key
    from gap_prompts
    left join pairings on gap_prompts.contrast_id = pairings.contrast_id
),

placed as (
    select
        *,
        -- Labels move inside the question and whatever else is stated of a person.
        if(
            is_person, concat_ws(' | ', wording, other_groups), concat_ws(' | ', wording, subject, other_groups)
        ) as stratum,
        -- The sampled unit: the subject, or the wording of the question.
        if(subject <> '', subject_key, wording) as sampled,
        -- Who is asked about again and again moves with all of it.
        if(is_person, subject_key, descriptor) as name
    from described
),

samples as (
    select
        contrast_id,
        sampled
    from placed
    group by contrast_id, sampled
    having count(distinct label) = 2
),

shared_samples as (
    select
        contrast_id,
        count(*) as n_shared
    from samples
    group by contrast_id
),

units as (
    select
        placed.contrast_id,
        placed.run_id,
        placed.prompt_id,
        cast(placed.label as tinyint) as label,
        placed.stratum,
        -- Other attributes that a name states move with it; those that vary within a name do not.
        if(
            min(placed.other_groups) over name_of_group = max(placed.other_groups) over name_of_group,
            placed.other_groups, '*'
        ) as name_stratum,
        placed.name,
        -- A person moves inside a stratum with all that was asked about it there.
        if(placed.is_person, placed.subject_key, null) as person,
        -- Several prompts about each subject, or about each wording, share what is odd about it.
        if(
            placed.is_person or coalesce(shared_samples.n_shared, 0) >= 5, placed.sampled, null
        ) as sampled,
        coalesce(placed.has_pairs, false) as has_pairs,
        placed.subject_key,
        placed.n_asked,
        placed.n,
        placed.n_refused,
        placed.n_unusable,
        placed.n_failed,
        placed.n_first_of_several,
        placed.trials
    from placed
    left join shared_samples on placed.contrast_id = shared_samples.contrast_id
    window name_of_group as (partition by placed.contrast_id, placed.label, placed.name)
)

select * from units
