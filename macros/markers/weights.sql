{#-
    How often a text counts where its name moves with all its texts: twice the other group's share of the question's texts. Both
    groups then have each question equally often; 1 where they were asked it equally often, 0 where one of them never was.
-#}
{% macro question_weight(is_marked, is_reference, keys) -%}
    if(
        unit_kind = 'names',
        2 * if(
            {{ is_marked }},
            count(*) filter (where {{ is_reference }}) over (partition by {{ keys | join(", ") }}),
            count(*) filter (where {{ is_marked }}) over (partition by {{ keys | join(", ") }})
        ) / count(*) over (partition by {{ keys | join(", ") }}),
        1
    )
{%- endmacro %}
