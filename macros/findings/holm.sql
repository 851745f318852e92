{#-
    Holm's step-down (1979) over the rows of `together` that are judged, the smallest p first: each p times how many are left,
    at most 1. Rows with insufficient data are a partition of their own, so `together` names is_insufficient, too.
-#}
{% macro holm_step(p_value, together) -%}
    case
        when not is_insufficient
            then least(
                1,
                {{ p_value }} * (
                    count(*) over (partition by {{ together }}) + 1
                    - row_number() over ({{ smallest_first(p_value, together) }})
                )
            )
    end
{%- endmacro %}

{#- The adjusted p of a row: its step, and no smaller than that of any row before. -#}
{% macro holm_adjusted(step, p_value, together) -%}
    max({{ step }}) over ({{ smallest_first(p_value, together) }})
{%- endmacro %}

{#- Rows by p, ties in one fixed order. -#}
{% macro smallest_first(p_value, together) -%}
    partition by {{ together }}
    order by {{ ties_in_order(p_value) }}
{%- endmacro %}

{% macro ties_in_order(p_value, of="") -%}
    {{ p_value }}
    {%- for column in ["measure", "scheme", "attribute", "group_name", "reference_group", "subject"] %}, {{ of }}{{ column }}{% endfor %}
{%- endmacro %}
