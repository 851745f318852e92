{{ config(materialized="by_run") }}

with

gap_prompts as (
    select *
    from {{ run_rows("int_answers_gap_prompts") }}
),

described as (
    select
        *,
        concat_ws(' | ', template, language, perturbation, domain) as wording,
        concat_ws(' | ', domain, subject) as subject_key
    from gap_prompts
),

placed as (
    select
        *,
        -- Labels move inside the question, the block and whatever else is stated of a person.
        concat_ws(
            ' | ',
            wording, if(has_pairs or subject = '', subject, null), other_groups, 'block ' || block
        ) as stratum,
        -- The sampled unit: a subject asked about in both groups, a person of one group, or the question's wording.
        case
            when paired_cluster is not null then paired_cluster
            when person is not null and not (has_pairs and subject <> '') then person
            when subject <> '' then subject_key
            else wording
        end as sampled,
        -- Who is asked about again and again moves with all of it.
        coalesce(person, descriptor) as name
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
        concat_ws(
            ' | ',
            if(
                min(placed.other_groups) over name_of_group = max(placed.other_groups) over name_of_group,
                placed.other_groups, '*'
            ),
            if(
                min(placed.block) over name_of_group = max(placed.block) over name_of_group,
                'block ' || placed.block, null
            )
        ) as name_stratum,
        placed.name,
        placed.person,
        -- A person, or a cluster, moves inside a stratum with all that was asked about it there.
        nullif(concat_ws(' | ', placed.person, placed.paired_cluster), '') as whole,
        -- Several prompts about each subject, or about each wording, share what is odd about it.
        if(
            placed.sampled in (placed.person, placed.paired_cluster) or coalesce(shared_samples.n_shared, 0) >= 5,
            placed.sampled, placed.person
        ) as sampled,
        placed.has_pairs and placed.subject <> '' as has_pairs,
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
