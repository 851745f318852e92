{#-
    The columns of a model's contract from a CTE that has them, and may have others: each of the type that its yml says, NaN as null.
    Of two columns of one name, as `one.*, other.*` may give, the first counts. Where the model is read for its references alone dbt
    does not know its columns yet.
-#}
{% macro contracted(relation) -%}
    select
        {%- for column in model.columns.values() %}
        {% if column.data_type == "double" %}{{ double_or_null(column.name) }}{% else %}cast({{ column.name }} as {{ column.data_type }}){% endif %} as {{ column.name }}{{ "," if not loop.last }}
        {%- else %} *
        {%- endfor %}
    from {{ relation }}
{%- endmacro %}
