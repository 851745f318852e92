{{ config(materialized="by_run") }}

with

prompts as (
    select
        run_id,
        prompt_id,
        template,
        language,
        perturbation,
        mitigation,
        coalesce(domain, '') as domain,
        subject,
        cluster,
        block,
        is_by_turn
    from {{ run_rows("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name,
        descriptor
    from {{ run_rows("stg_ledger__prompt_attributes") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        components,
        kind
    from {{ ref("int_run_attributes") }}
),

grouped_attributes as (
    select
        prompt_attributes.run_id,
        prompt_attributes.prompt_id,
        prompt_attributes.slot,
        run_attributes.attribute,
        run_attributes.kind,
        list(
            prompt_attributes.group_name
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) filter (where list_contains(run_attributes.components, prompt_attributes.attribute)) as component_groups,
        string_agg(
            prompt_attributes.descriptor, ''
            order by list_position(run_attributes.components, prompt_attributes.attribute)
        ) filter (where list_contains(run_attributes.components, prompt_attributes.attribute)) as descriptors,
        string_agg(
            prompt_attributes.attribute || '=' || prompt_attributes.group_name, '; '
            order by prompt_attributes.attribute
        ) filter (where not list_contains(run_attributes.components, prompt_attributes.attribute)) as other_groups
    from prompt_attributes
    inner join run_attributes on prompt_attributes.run_id = run_attributes.run_id
    group by
        prompt_attributes.run_id, prompt_attributes.prompt_id, prompt_attributes.slot, run_attributes.attribute,
        run_attributes.components, run_attributes.kind
    having
        count(*) filter (where list_contains(run_attributes.components, prompt_attributes.attribute))
        = len(run_attributes.components)
),

named_groups as (
    select
        grouped_attributes.run_id,
        grouped_attributes.prompt_id,
        grouped_attributes.slot,
        grouped_attributes.attribute,
        grouped_attributes.kind,
        prompts.mitigation,
        case grouped_attributes.kind
            when 'same' then if(len(list_distinct(grouped_attributes.component_groups)) = 1, 'same', 'different')
            else array_to_string(grouped_attributes.component_groups, '*')
        end as group_name,
        grouped_attributes.descriptors,
        grouped_attributes.other_groups,
        prompts.template,
        prompts.language,
        prompts.perturbation,
        prompts.domain,
        prompts.subject,
        prompts.cluster,
        prompts.block,
        prompts.is_by_turn
    from grouped_attributes
    inner join prompts
        on
            grouped_attributes.run_id = prompts.run_id
            and grouped_attributes.prompt_id = prompts.prompt_id
),

subjects_and_clusters as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        unnest(['subject', 'cluster']) as kind_of_sample,
        unnest([if(subject <> '', domain || ' | ' || subject, null), cluster]) as sampled
    from named_groups
),

sampled_groups as (
    select
        run_id,
        mitigation,
        attribute,
        kind_of_sample,
        count(distinct group_name) as n_groups
    from subjects_and_clusters
    where sampled is not null
    group by run_id, mitigation, attribute, kind_of_sample, sampled
),

-- Whether most of them are in several groups, as a resume under several names is, or in one alone, as a customer is.
shares_of_pairs as (
    select
        run_id,
        mitigation,
        attribute,
        avg(cast(n_groups > 1 as integer)) filter (where kind_of_sample = 'subject') as share_of_subjects,
        avg(cast(n_groups > 1 as integer)) filter (where kind_of_sample = 'cluster') as share_of_clusters
    from sampled_groups
    group by run_id, mitigation, attribute
),

pairings as (
    select
        run_id,
        mitigation,
        attribute,
        coalesce(share_of_subjects > 0.5, false) as has_pairs,
        coalesce(share_of_clusters > 0.5, false) as has_paired_clusters
    from shares_of_pairs
),

paired_groups as (
    select
        named_groups.*,
        coalesce(pairings.has_pairs, false) as has_pairs,
        if(pairings.has_paired_clusters, named_groups.cluster, null) as paired_cluster,
        case
            when named_groups.cluster is not null and not pairings.has_paired_clusters then named_groups.cluster
            when named_groups.subject <> '' and not pairings.has_pairs
                then named_groups.domain || ' | ' || named_groups.subject
        end as person
    from named_groups
    left join pairings
        on
            named_groups.run_id = pairings.run_id
            and named_groups.mitigation = pairings.mitigation
            and named_groups.attribute = pairings.attribute
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        kind,
        mitigation,
        group_name,
        descriptors,
        other_groups,
        subject,
        cluster,
        block,
        has_pairs,
        person,
        paired_cluster,
        is_by_turn,
        -- The stratum that labels must not leave in a permutation: the template, the block and every other attribute.
        concat_ws(
            ' | ',
            template, language, perturbation, if(has_pairs, subject, null), other_groups, 'block ' || block
        ) as stratum
    from paired_groups
)

select * from prompt_groups
