{#- Fails on values that stand in more than one row, and on nulls: one column names each row. -#}
{% test key(model, column_name) %}

select
    {{ column_name }},
    count(*) as n_rows
from {{ model }}
group by {{ column_name }}
having {{ column_name }} is null or count(*) > 1

{% endtest %}
