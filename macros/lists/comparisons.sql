{#- The same groups, question and neutral prompt, whatever scheme the answers are read by. -#}
{% macro same_comparison(one, other) -%}
    {{ one }}.run_id = {{ other }}.run_id
            and {{ one }}.variant = {{ other }}.variant
            and {{ one }}.neutral = {{ other }}.neutral
            and {{ one }}.wording = {{ other }}.wording
            and {{ one }}.domain = {{ other }}.domain
            and {{ one }}.attribute = {{ other }}.attribute
{%- endmacro %}
