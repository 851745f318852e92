{#- What tells the answers of a contrast apart as integers from 0, which follow the content of a run. -#}
{% macro code_in_contrast(columns) -%}
    cast(dense_rank() over (partition by contrast_id order by {{ columns }}) - 1 as integer)
{%- endmacro %}
