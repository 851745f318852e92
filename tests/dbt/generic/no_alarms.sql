{#-
    The audit's alarm: fails on the alarms of one family of measures (a room) and severity level that nobody has accepted. The failing rows are
    stored, so that they can be queried after the build.
-#}
{% test no_alarms(model, room, level) %}

{{ config(tags=["alarm"], store_failures=true, schema="alarms", severity=level) }}

select *
from {{ model }}
where
    severity = '{{ level }}'
    and not is_excepted
    and measure in (
        select measures.measure
        from {{ ref("dim_measures") }} as measures
        where measures.room = '{{ room }}'
    )

{% endtest %}
