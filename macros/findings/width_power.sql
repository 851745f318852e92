{#- How an interval's half width falls with the number of units: where nothing varied it is that of the rule of three, about 3.7 / n. -#}
{% macro width_power(standard_error) -%}
    case when {{ standard_error }} <= 1e-12 then 1.0 end
{%- endmacro %}
