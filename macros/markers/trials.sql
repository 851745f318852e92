{#-
    The answers that a distinct text stands for as numbers from 0: each trial is an observation. A prompt whose answers are all equal
    counts once, with all of them. A counted row of an import is at most `most` units, each of which counts more.
-#}
{% macro trials_of_text(most=200) -%}
    range(if(has_varied_answers, least(greatest(cast(round(n_answers) as bigint), 1), {{ most }}), 1))
{%- endmacro %}
