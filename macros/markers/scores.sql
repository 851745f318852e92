{#- The score that a row of label_scores gives for a row of int_markers_judged; null where it is of another label or, of grades, no finite number. -#}
{% macro judged_score(judged, label_scores) -%}
    {%- set grade = "try_cast(" ~ label_scores ~ ".label as double)" -%}
    case
        when {{ judged }}.is_number then if(isfinite({{ grade }}), {{ grade }}, null)
        when {{ label_scores }}.label = {{ judged }}.label then {{ label_scores }}.score
    end
{%- endmacro %}

{#- A mean that counts from 0, the better end of a score's range, to 1, as the score itself. -#}
{% macro score_of(badness, judged) -%}
    if(
        {{ judged }}.worse = 'higher',
        {{ judged }}.lowest + {{ badness }} * ({{ judged }}.highest - {{ judged }}.lowest),
        {{ judged }}.highest - {{ badness }} * ({{ judged }}.highest - {{ judged }}.lowest)
    )
{%- endmacro %}
