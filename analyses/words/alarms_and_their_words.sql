{{ config(enabled='words' in env_var('BIASLEDGER_ROOMS', 'words lists decisions prices markers')) }}

-- Which groups are steered where: each alarm on words with the ten words that speak most for the marked group.
select
    findings.audit,
    findings.target,
    findings.attribute,
    findings.group_name,
    findings.reference_group,
    list(words.word order by words.z_score desc)[:10] as words_for_the_group
from {{ ref("fct_alarms") }} as findings
inner join {{ ref("fct_marked_words") }} as words
    on
        findings.run_id = words.run_id
        and findings.variant = words.variant
        and findings.scheme = words.scheme
        and findings.attribute = words.attribute
        and findings.group_name = words.group_name
        and findings.reference_group = words.reference_group
where
    findings.measure = 'marked_words'
    and words.is_marked
    and words.z_score > 0
group by all
order by all
