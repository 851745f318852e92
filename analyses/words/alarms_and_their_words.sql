-- Which groups are steered by words? Each alarm on words with its ten strongest words.
{{ config(enabled='words' in env_var('BIASLEDGER_METHODS', 'words')) }}

with

words as (
    select
        *,
        row_number() over (
            partition by contrast_id, scheme order by z_score desc, word asc
        ) as word_rank
    from {{ ref("fct_marked_words") }}
    where
        is_marked
        and z_score > 0
),

alarms as (
    select *
    from {{ ref("fct_alarms") }}
    where measure = 'marked_words'
)

select
    alarms.audit,
    alarms.target,
    alarms.mitigation,
    alarms.attribute,
    alarms.group_name,
    alarms.reference_group,
    string_agg(words.word, ', ' order by words.word_rank) as words_for_the_group
from alarms
inner join words
    on
        alarms.contrast_id = words.contrast_id
        and alarms.scheme = words.scheme
where words.word_rank <= 10
group by
    alarms.audit, alarms.target, alarms.mitigation, alarms.attribute, alarms.group_name, alarms.reference_group,
    alarms.finding_id
order by
    alarms.audit, alarms.target, alarms.mitigation, alarms.attribute, alarms.group_name, alarms.reference_group
