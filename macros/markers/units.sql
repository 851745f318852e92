{#- What a comparison of markers or regard counts and what has to grow. -#}
{% macro marker_units(unit_kind) -%}
    case {{ unit_kind }} when 'names' then 'names a group' when 'prompts' then 'questions' else 'answers a group' end
{%- endmacro %}
