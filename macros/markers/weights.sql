{#-
    How much an answer counts where its name moves with all its answers: twice the other group's share of the question's answers. Both
    groups then have each question equally often; 1 where they were asked it equally often, 0 where one of them never was.
-#}
{% macro question_weight(is_marked, is_reference, keys, n="n_answers") -%}
    if(
        unit_kind = 'names',
        2 * if(
            {{ is_marked }},
            sum({{ n }}) filter (where {{ is_reference }}) over (partition by {{ keys | join(", ") }}),
            sum({{ n }}) filter (where {{ is_marked }}) over (partition by {{ keys | join(", ") }})
        ) / sum({{ n }}) over (partition by {{ keys | join(", ") }}),
        1
    )
{%- endmacro %}
