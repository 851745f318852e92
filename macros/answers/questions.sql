{#- The question of a prompt without its group: the same for a prompt about a group and for a neutral one. -#}
{% macro question_key() -%}
    {{ integer_key_of([
        "run_id", "mitigation", "coalesce(language, '')", "coalesce(perturbation, '')", "coalesce(domain, '')",
        "coalesce(subject, '')",
    ]) }}
{%- endmacro %}
