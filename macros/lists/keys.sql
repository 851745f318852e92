{#- Reruns that one noise floor is made of. -#}
{% macro rerun_key(relation) -%}
    {{ key_of([
        relation ~ ".run_id", relation ~ ".variant", relation ~ ".scheme", relation ~ ".neutral", relation ~ ".domain",
    ]) }}
{%- endmacro %}
