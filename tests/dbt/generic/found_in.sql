{#- Fails on values that no row of `to` has. Without one of the two tables it finds nothing. -#}
{% test found_in(model, column_name, to, field) %}

{% if are_built() %}
select {{ column_name }}
from {{ model }}
where {{ column_name }} not in (select {{ field }} from {{ to }} where {{ field }} is not null)
{% else %}
select true as is_absent
where false
{% endif %}

{% endtest %}
