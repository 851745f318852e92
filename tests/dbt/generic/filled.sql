{#- Fails on rows that say nothing in one of `columns`; the answer names the first of them. -#}
{% test filled(model, columns) %}

select
    case {% for column in columns %} when {{ column }} is null then '{{ column }}' {% endfor %} end as empty_column,
    *
from {{ model }}
where {% for column in columns %} {{ column }} is null {{ "or" if not loop.last }} {% endfor %}

{% endtest %}
