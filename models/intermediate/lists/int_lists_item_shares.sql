{{ config(materialized="by_run") }}

with

-- Numbered by question, so that items are joined and grouped by numbers.
responses as (
    select
        run_id,
        list_key,
        mitigation,
        domain,
        subject,
        template,
        attribute,
        group_name,
        dense_rank() over (
            order by run_id, mitigation, domain, subject, template, attribute, group_name
        ) as question_number
    from {{ run_rows("int_lists_responses") }}
    where
        scheme = 'items'
        and wording = 'clean'
        and has_list
),

places as (
    select
        list_key,
        item
    from {{ ref("int_lists_places") }}
    where not is_repeat
),

-- The neutral prompt that findings compare with.
neutral_templates as (
    select distinct
        run_id,
        neutral
    from {{ run_rows("int_lists_group_values") }}
    where
        scheme = 'items'
        and wording = 'clean'
        and is_judged_neutral
),

n_lists as (
    select
        question_number,
        run_id,
        mitigation,
        domain,
        subject,
        template,
        attribute,
        group_name,
        count(*) as n_lists
    from responses
    group by question_number, run_id, mitigation, domain, subject, template, attribute, group_name
),

held as (
    select
        responses.question_number,
        places.item,
        count(*) as n_holding
    from responses
    inner join places
        on
            responses.list_key = places.list_key
    group by responses.question_number, places.item
),

-- Subjects with lists of the group and neutral ones.
compared as (
    select
        of_groups.*,
        of_neutral.question_number as neutral_number,
        of_neutral.n_lists as n_neutral_lists
    from n_lists as of_groups
    inner join neutral_templates on of_groups.run_id = neutral_templates.run_id
    inner join n_lists as of_neutral
        on
            of_groups.run_id = of_neutral.run_id
            and of_groups.mitigation = of_neutral.mitigation
            and of_groups.domain = of_neutral.domain
            and of_groups.subject = of_neutral.subject
            and neutral_templates.neutral = of_neutral.template
    where
        of_groups.attribute is not null
        and of_neutral.attribute is null
),

numbered as (
    select
        *,
        dense_rank() over (order by run_id, mitigation, domain, attribute, group_name, subject) as subject_number
    from compared
),

-- A subject with several templates counts as one list: its share is their mean.
subjects as (
    select
        subject_number,
        {{ key_of(["run_id", "mitigation", "domain", "attribute", "group_name"]) }} as values_key,
        run_id,
        mitigation,
        domain,
        attribute,
        group_name,
        subject,
        count(*) as n_templates
    from numbered
    group by subject_number, run_id, mitigation, domain, attribute, group_name, subject
),

shares as (
    select
        numbered.subject_number,
        held.item,
        held.n_holding / numbered.n_lists as share_of_group,
        0.0 as share_of_neutral
    from numbered
    inner join held on numbered.question_number = held.question_number
    union all by name
    select
        numbered.subject_number,
        held.item,
        0.0 as share_of_group,
        held.n_holding / numbered.n_neutral_lists as share_of_neutral
    from numbered
    inner join held on numbered.neutral_number = held.question_number
),

-- Subjects with one template need no ordered sum, which would take most of the time.
shares_of_one as (
    select
        shares.subject_number,
        shares.item,
        max(shares.share_of_group) as share_of_group,
        max(shares.share_of_neutral) as share_of_neutral
    from shares
    inner join subjects on shares.subject_number = subjects.subject_number
    where subjects.n_templates = 1
    group by shares.subject_number, shares.item
),

shares_of_several as (
    select
        shares.subject_number,
        shares.item,
        sum(shares.share_of_group order by shares.share_of_group) / any_value(subjects.n_templates) as share_of_group,
        sum(shares.share_of_neutral order by shares.share_of_neutral) / any_value(subjects.n_templates)
            as share_of_neutral
    from shares
    inner join subjects on shares.subject_number = subjects.subject_number
    where subjects.n_templates > 1
    group by shares.subject_number, shares.item
),

of_subjects as (
    select * from shares_of_one
    union all by name
    select * from shares_of_several
),

item_shares as (
    select
        subjects.values_key,
        subjects.run_id,
        subjects.mitigation,
        subjects.domain,
        subjects.attribute,
        subjects.group_name,
        subjects.subject,
        of_subjects.item,
        of_subjects.share_of_group,
        of_subjects.share_of_neutral
    from of_subjects
    inner join subjects on of_subjects.subject_number = subjects.subject_number
)

select * from item_shares
