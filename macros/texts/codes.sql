{#- What tells the answers of a contrast apart as integers from 0, which follow the content of a run. -#}
{% macro code_in_contrast(columns) -%}
    cast(dense_rank() over (partition by contrast_id order by {{ columns }}) - 1 as integer)
{%- endmacro %}

{#- The language of a prompt without its region, en-GB is en; English where nobody says. -#}
{% macro language_alone(column) -%}
    lower(coalesce(nullif(regexp_extract({{ column }}, '^[A-Za-z]+'), ''), 'en'))
{%- endmacro %}
