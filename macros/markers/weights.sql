{#-
    How much an answer counts where its name moves with all its answers: twice the other group's share of the question's answers. Both
    groups then have each question equally often; 1 where they were asked it equally often, 0 where one of them never was.
-#}
{% macro question_weight(question) -%}
    if(
        unit_kind = 'names',
        2 * if(
            is_marked,
            sum(n_answers) filter (where not is_marked) over (partition by {{ question }}),
            sum(n_answers) filter (where is_marked) over (partition by {{ question }})
        ) / sum(n_answers) over (partition by {{ question }}),
        1
    )
{%- endmacro %}
