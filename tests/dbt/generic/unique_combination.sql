{#- Fails on rows that share the same values of `columns`: the stated grain does not hold. -#}
{% test unique_combination(model, columns) %}

select
    {{ columns | join(", ") }},
    count(*) as n_rows
from {{ model }}
group by {{ columns | join(", ") }}
having count(*) > 1

{% endtest %}
