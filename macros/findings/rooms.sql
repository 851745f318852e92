{#-
    The rooms that are built, in their order: those of the variable `rooms`, of which BIASLEDGER_ROOMS may name some.
    `handing_over`: only those that hand over so much, as int_<room>_<handing_over>, or of which the variable says so.
-#}
{% macro rooms(handing_over=none) -%}
    {%- set named = env_var("BIASLEDGER_ROOMS", "").split() -%}
    {%- set found = [] -%}
    {%- for room, handed_over in var("rooms").items() -%}
        {%- if (not named or room in named) and (not handing_over or handing_over in handed_over) -%}
            {%- do found.append(room) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do return(found) -%}
{%- endmacro %}

{#-
    The audit's alarm, which a test in tests/dbt/alarms is: fails on the alarms of one room and severity level that nobody has
    accepted. The failing rows are stored, so that they can be queried after the build.
-#}
{% macro unaccepted_alarms(room, level) -%}
    {{ config(tags=["alarm"], store_failures=true, schema="alarms", severity=level) }}
    {%- if room in var("rooms") %}{{ config(enabled=room in rooms()) }}{% endif %}
select *
from {{ ref("fct_alarms") }}
where
    severity = '{{ level }}'
    and not is_excepted
    and measure in (
        select measures.measure
        from {{ ref("dim_measures") }} as measures
        where measures.room = '{{ room }}'
    )
{%- endmacro %}
