{#- Whether a group, or a part of an intersection, is the one of people whose group is not known. -#}
{% macro is_unknown_group(group_name) -%}
    regexp_matches(lower({{ group_name }}), '(^|\*)unknown($|\*)')
{%- endmacro %}
