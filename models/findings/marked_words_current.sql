-- Left out with the words, as everything of a method (see dbt_project.yml).
{{ config(enabled="words" in env_var("BIASLEDGER_METHODS", "words")) }}

with

-- The words of the scheme that is judged; pairs of which neither group is the reference have no finding.
findings as (
    select
        contrast_id,
        scheme,
        audit,
        target,
        status,
        is_simulated
    from {{ ref("fct_findings") }}
    where
        measure = 'marked_words'
        and is_current
        and mitigation = 'plain'
),

marked_words as (
    select
        *,
        if(z_score > 0, group_name, reference_group) as written_more_for,
        row_number() over (
            partition by contrast_id, scheme, z_score > 0
            order by abs(z_score) desc, word asc
        ) as word_rank
    from {{ ref("fct_marked_words") }}
    where is_marked
),

marked_words_current as (
    select
        findings.*,
        marked_words.*
    from findings
    inner join marked_words
        on
            findings.contrast_id = marked_words.contrast_id
            and findings.scheme = marked_words.scheme
)

{{ contracted("marked_words_current") }}
