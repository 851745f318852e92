-- Which words are written more for each group? The ten strongest that are more than chance.
{{ config(enabled='words' in env_var('BIASLEDGER_METHODS', 'words')) }}

with

marked_words as (
    select *
    from {{ ref("fct_marked_words") }}
    where
        is_marked
        and z_score > 0
),

-- Findings are made of one scheme of words only.
findings as (
    select *
    from {{ ref("fct_findings") }}
    where
        measure = 'marked_words'
        and is_current
),

ranked as (
    select
        findings.audit,
        findings.target,
        findings.mitigation,
        findings.attribute,
        findings.group_name,
        findings.reference_group,
        findings.status,
        row_number() over (
            partition by findings.finding_id order by marked_words.z_score desc, marked_words.word asc
        ) as word_rank,
        marked_words.word,
        marked_words.n_group_uses,
        marked_words.n_reference_uses,
        marked_words.n_units_using as n_answers_using_it,
        marked_words.log_odds,
        marked_words.z_score,
        marked_words.p_value_adjusted as p_adjusted
    from findings
    inner join marked_words
        on
            findings.contrast_id = marked_words.contrast_id
            and findings.scheme = marked_words.scheme
)

select *
from ranked
where word_rank <= 10
order by audit, target, mitigation, attribute, group_name, reference_group, word_rank
