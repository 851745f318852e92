{#-
    Texts of a list as one, '' for an empty list or none. DuckDB's array_to_string is a macro that names the list twice: inside a case,
    which shares nothing that its branches have in common, the list would be made twice.
-#}
{% macro joined_texts(texts, separator) -%}
    coalesce(list_aggregate({{ texts }}, 'string_agg', '{{ separator }}'), '')
{%- endmacro %}
