{#- A column of a Python model as a nullable double: NaN means "not computed" there, null here. -#}
{% macro double_or_null(column) -%}
    case when not isnan({{ column }}) then cast({{ column }} as double) end
{%- endmacro %}

{#-
    Two-sided p of a standard normal deviate; the engine has no error function. Abramowitz & Stegun (1964), 7.1.26: the absolute error
    of the error function is below 1.5e-7.
-#}
{% macro two_sided_normal_p(deviate) -%}
    {%- set t = "(1 / (1 + 0.3275911 * abs(" ~ deviate ~ ") / sqrt(2)))" -%}
    (
        exp(-pow({{ deviate }}, 2) / 2) * {{ t }} * (
            0.254829592 + {{ t }} * (-0.284496736 + {{ t }} * (1.421413741 + {{ t }} * (-1.453152027 + {{ t }} * 1.061405429)))
        )
    )
{%- endmacro %}
