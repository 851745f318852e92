{#- Fails on values outside the open interval (above, below); nulls pass. -#}
{% test in_range(model, column_name, above=none, below=none) %}

select {{ column_name }}
from {{ model }}
where
    false
    {% if above is not none %} or {{ column_name }} <= {{ above }} {% endif %}
    {% if below is not none %} or {{ column_name }} >= {{ below }} {% endif %}

{% endtest %}
