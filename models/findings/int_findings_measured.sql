{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

-- What a room need not say. family: some measures judge one, such as every category of an attribute: its members,
-- the most certain first, any of which may be the alarm. scope: whom it speaks of, where that does not follow from
-- names and wordings. groups_compared: of a whole attribute, those that it speaks of, where that is not all of them.
-- settled_by: what must grow to settle it, where that is not the measure's unit. ruled_out:
-- what a clear finding rules out, where that is less than anything past the threshold. width_power: the interval's
-- half width falls as n_units to minus this power, where that is not one half. n_sufficient: what min_units is held
-- against, counted in the measure's unit, where that is not n_units. is_same_by_construction: prompts and answers
-- are the same for both groups in every case.
optional as (
    select
        cast(null as {{ family_type() }}) as family,
        cast(null as varchar) as scope,
        cast(null as varchar[]) as groups_compared,
        cast(null as varchar) as settled_by,
        cast(null as varchar) as ruled_out,
        cast(null as double) as width_power,
        cast(null as bigint) as n_sufficient,
        cast(null as boolean) as is_same_by_construction
    where false
),

measured as (
    select * from optional
    union all by name
    {% for room in rooms() %}
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
