{#- A sum over answers that is the same in every build, whatever order they come in. -#}
{% macro sum_of_answers(term) -%}
    sum({{ term }} order by prompt_id, trial)
{%- endmacro %}

{#-
    How many equal observations weighted ones are worth (Kish 1965), where a condition holds: as a mean of as many it is as uncertain.
-#}
{% macro effective_count(weight, condition) -%}
    pow({{ sum_of_answers(weight ~ " * cast(" ~ condition ~ " as integer)") }}, 2)
    / nullif({{ sum_of_answers("pow(" ~ weight ~ ", 2) * cast(" ~ condition ~ " as integer)") }}, 0)
{%- endmacro %}

{#- The weighted share of those for which something is true among those for which a condition holds; null where it holds for none. -#}
{% macro weighted_share(weight, is_true, condition) -%}
    {{ sum_of_answers(weight ~ " * cast(" ~ condition ~ " and " ~ is_true ~ " as integer)") }}
    / nullif({{ sum_of_answers(weight ~ " * cast(" ~ condition ~ " as integer)") }}, 0)
{%- endmacro %}

{#- How many labelled answers about each combination of groups correct a judge's grades. -#}
{% macro least_labels() -%} 10 {%- endmacro %}
