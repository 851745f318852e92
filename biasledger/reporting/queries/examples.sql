-- Prompts that differ in one attribute's group alone, two by two: the same case with one person, of two groups.
with

people as (
    select
        prompt_id,
        [template, language, perturbation, domain, subject] as question,
        domain,
        subject,
        coalesce(domain, '') = $subject as is_of_subject,
        max(descriptor) filter (where attribute = $attribute) as descriptor,
        max(group_name) filter (where attribute = $attribute) as group_name,
        string_agg(attribute || '=' || group_name, ', ' order by attribute) filter (
            where attribute <> $attribute and not contains(attribute, '*')
        ) as others,
        count(distinct slot) as n_people
    from marts.dim_prompt_groups
    where
        run_id = $run_id
        and mitigation = 'plain'
    group by prompt_id, template, language, perturbation, domain, subject
),

of_group as (
    select *
    from people
    where
        group_name = $marked
        and n_people = 1
),

of_reference as (
    select *
    from people
    where
        group_name = $compared
        and n_people = 1
)

select
    of_group.domain,
    of_group.subject,
    of_group.prompt_id,
    of_group.descriptor,
    of_group.group_name,
    of_reference.prompt_id as reference_prompt_id,
    of_reference.descriptor as reference_descriptor,
    of_reference.group_name as reference_group
from of_group
inner join of_reference
    on
        of_group.question = of_reference.question
        and coalesce(of_group.others, '') = coalesce(of_reference.others, '')
-- Cases of the finding's own subject, where it has one that prompts have.
qualify
    of_group.is_of_subject
    or bool_or(of_group.is_of_subject) over () is not true
order by of_group.prompt_id, of_reference.prompt_id
limit 500
