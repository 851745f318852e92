{#-
    The alarm of comparisons: fails where a measure got worse than its pinned baseline by more than its tolerance, beyond chance, and nobody
    has accepted it. The failing rows are stored, so that they can be queried after the build.
-#}
{% test no_regressions(model, level) %}

{{ config(tags=["alarm"], store_failures=true, schema="alarms", severity=level) }}

select *
from {{ model }}
where
    severity = '{{ level }}'
    and not is_excepted

{% endtest %}
