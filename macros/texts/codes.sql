{#- Number distinct values among a contrast's answers from 0, by their content. -#}
{% macro code_in_contrast(columns) -%}
    cast(dense_rank() over (partition by contrast_id order by {{ columns }}) - 1 as integer)
{%- endmacro %}

{#- The language of a prompt without its region (en-GB is en); English by default. -#}
{% macro language_alone(column) -%}
    lower(coalesce(nullif(regexp_extract({{ column }}, '^[A-Za-z]+'), ''), 'en'))
{%- endmacro %}
