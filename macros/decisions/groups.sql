{#- Whether a group, or a part of an intersection, is the one of people whose group is not known. -#}
{% macro is_unknown_group(group_name) -%}
    (
        regexp_matches(lower({{ group_name }}), '(^|\*)(unknown|undisclosed|not (disclosed|stated|specified|known))($|\*)')
        or regexp_matches(
            lower({{ group_name }}), '(^|\*)(not (reported|provided)|(prefer|declined?) (not )?to (say|state|answer))($|\*)'
        )
    )
{%- endmacro %}
