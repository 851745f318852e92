{#- What a prompt asks, next to whom it is about: the same of a prompt about a group and of one about nobody. -#}
{% macro question_key() -%}
    {{ integer_key_of([
        "run_id", "mitigation", "coalesce(language, '')", "coalesce(perturbation, '')", "coalesce(domain, '')",
        "coalesce(subject, '')",
    ]) }}
{%- endmacro %}
