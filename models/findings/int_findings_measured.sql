{{ config(schema="intermediate", contract={"enforced": false}) }}

with

measured as (
    {% for room in env_var("BIASLEDGER_ROOMS", "words lists decisions").split() %}
        select * from {{ ref("int_" ~ room ~ "_findings") }}
        {% if not loop.last %}
            union all by name
        {% endif %}
    {% endfor %}
)

select * from measured
