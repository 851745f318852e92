{#- The measure that judges a gap in an outcome of decisions of a kind. -#}
{% macro measure_of_gap(outcome, kind) -%}
    case
        when {{ outcome }} = 'correct' then 'accuracy_gap'
        when {{ outcome }} = 'relative' then 'relative_gap'
        when {{ kind }} = 'label' then 'rank_gap'
        when {{ kind }} = 'ranking' then 'place_gap'
        else 'score_gap'
    end
{%- endmacro %}
