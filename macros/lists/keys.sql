{#- What an attribute's groups are asked in one wording and domain, as one scheme reads the answers. -#}
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
