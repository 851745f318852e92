{#-
    The audit's alarm: fails on the alarms of one measure and severity level that nobody has accepted. The failing rows are stored, so that
    they can be queried after the build.
-#}
{% test no_alarms(model, measure, level) %}

{{ config(tags=["alarm"], store_failures=true, schema="alarms", severity=level) }}

select *
from {{ model }}
where
    measure = '{{ measure }}'
    and severity = '{{ level }}'
    and not is_excepted

{% endtest %}
