{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

-- What a room need not say of a finding, beside subject (empty), detail_without_alarm (as detail) and is_crossed.
-- member, reference_member: the largest and the smallest of several, of which the value speaks. family: some measures
-- judge one, such as every category of an attribute: its members, the most certain first, any of which may be the
-- alarm. beyond_chance: what the sentence adds. caution: what to bear in mind of the comparison. scope: whom it speaks
-- of, where that does not follow from names and wordings. groups_compared: of a whole attribute, those that it speaks
-- of, where that is not all of them. settled_by: what must grow to settle it, where that is not the measure's unit.
-- ruled_out: what a clear finding rules out, where that is less than anything past the threshold. half_width: of an
-- interval on another scale than the value. width_power: the interval's half width falls as n_units to minus this
-- power, where that is not one half. n_sufficient: what min_units is held against, counted in the measure's unit,
-- where that is not n_units. is_same_by_construction: prompts and answers are the same for both groups in every case.
optional as (
    select
        cast(null as varchar) as subject,
        cast(null as varchar) as member,
        cast(null as varchar) as reference_member,
        cast(null as {{ family_type() }}) as family,
        cast(null as varchar) as detail_without_alarm,
        cast(null as double) as beyond_chance,
        cast(null as varchar) as caution,
        cast(null as varchar) as scope,
        cast(null as varchar[]) as groups_compared,
        cast(null as varchar) as settled_by,
        cast(null as varchar) as ruled_out,
        cast(null as double) as null_mean,
        cast(null as double) as null_sd,
        cast(null as double) as half_width,
        cast(null as double) as width_power,
        cast(null as double) as published_value,
        cast(null as bigint) as n_sufficient,
        cast(null as boolean) as is_same_by_construction,
        cast(null as boolean) as is_crossed
    where false
),

handed_over as (
    select * from optional
    {% for room in rooms() %}
        union all by name
        select * from {{ ref("int_" ~ room ~ "_findings") }}
    {% endfor %}
    union all by name
    select * from {{ ref("int_answers_findings") }}
    union all by name
    select * from {{ ref("int_run_findings") }}
),

completed as (
    select
        * replace (
            {% for number in [
                "value", "p_value", "null_mean", "null_sd", "interval_low", "interval_high", "published_value"
            ] -%}
                {{ double_or_null(number) }} as {{ number }},
            {% endfor -%}
            coalesce(subject, '') as subject,
            -- Who stands at both ends stands at neither: all are the same.
            nullif(member, reference_member) as member,
            nullif(reference_member, member) as reference_member,
            coalesce(detail_without_alarm, detail) as detail_without_alarm,
            coalesce(is_crossed, false) as is_crossed
        )
    from handed_over
),

measured as (
    select
        {{ finding_id("completed", "completed") }} as finding_id,
        {{ contrast_id() }} as contrast_id,
        *
    from completed
)

select * from measured
