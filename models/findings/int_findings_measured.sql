{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

-- Some measures judge a family, such as every category of an attribute: its members, the most certain first. Any of
-- them may be the alarm.
families as (
    select cast(null as {{ family_type() }}) as family
    where false
),

measured as (
    select * from families
    union all by name
    {% for room in env_var("BIASLEDGER_ROOMS", "words lists decisions prices markers").split() %}
        select * from {{ ref("int_" ~ room ~ "_findings") }}
        {% if not loop.last %}
            union all by name
        {% endif %}
    {% endfor %}
    union all by name
    select * from {{ ref("int_answers_findings") }}
    union all by name
    select * from {{ ref("int_run_findings") }}
)

select * from measured
