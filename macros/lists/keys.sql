{#- The key of an attribute's question in one wording, domain and scheme. -#}
{% macro list_set_id(relation, attribute="attribute") -%}
    {{ integer_key_of([
        relation ~ ".run_id", relation ~ ".mitigation", relation ~ ".scheme", relation ~ ".wording", relation ~ ".domain",
        attribute,
    ]) }}
{%- endmacro %}

{#- Reruns that one noise floor is made of. -#}
{% macro rerun_key(relation) -%}
    {{ key_of([
        relation ~ ".run_id", relation ~ ".mitigation", relation ~ ".scheme", relation ~ ".neutral", relation ~ ".domain",
    ]) }}
{%- endmacro %}
