{{ config(schema="intermediate", contract={"enforced": false}) }}

with

measured as (
    select * from {{ ref("int_words_findings") }}
    union all by name
    select * from {{ ref("int_lists_findings") }}
    union all by name
    select * from {{ ref("int_decisions_findings") }}
)

select * from measured
