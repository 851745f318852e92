{#- The units that a comparison of markers or regard counts, and that more data would add. -#}
{% macro marker_units(unit_kind) -%}
    case {{ unit_kind }} when 'names' then 'names a group' when 'prompts' then 'questions' else 'answers a group' end
{%- endmacro %}
