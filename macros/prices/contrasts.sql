{#-
    For comparisons of all groups at once: the contrast of a label's group with its reference group, or of all groups if it has none
    or is the reference.
-#}
{% macro contrast_of_label(comparisons, label) -%}
    {%- set is_marked = comparisons ~ ".has_reference and " ~ label ~ " > 0" -%}
    {%- set groups = comparisons ~ ".groups" -%}
    {{ contrast_id(
        comparisons,
        group_name="if(" ~ is_marked ~ ", " ~ groups ~ "[" ~ label ~ " + 1], '(all)')",
        reference_group="if(" ~ is_marked ~ ", " ~ groups ~ "[1], '(all)')",
    ) }}
{%- endmacro %}
