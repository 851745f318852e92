{#- A ratio of the stereotype's markers, as one key over a relation's own columns. -#}
{% macro ratio_key(relation="") -%}
    {%- set prefix = relation ~ "." if relation else "" -%}
    {{ integer_key_of([
        prefix ~ "run_id", prefix ~ "mitigation", prefix ~ "scheme", prefix ~ "category", prefix ~ "probe",
    ]) }}
{%- endmacro %}

{#- A list of markers next to an attribute, whichever group it is counted of. -#}
{% macro list_key() -%}
    {{ integer_key_of(["run_id", "mitigation", "scheme", "attribute", "list"]) }}
{%- endmacro %}
