{#- The sentence where a scorer has no label for what is judged. -#}
{% macro no_negative_label(scorers) -%}
    printf(
        'the labels of %s are %s, and none is negative; say which one is (import.score_labels, or score --label-map)',
        {{ scorers }}.scorer, {{ scorers }}.labels
    )
{%- endmacro %}
