{#- The measure that judges a gap in an outcome of decisions of a kind. -#}
{% macro measure_of_gap(outcome, kind) -%}
    case
        when {{ outcome }} = 'correct' then 'accuracy_gap'
        when {{ outcome }} in ('false_positive', 'false_negative') then 'error_rate_gap'
        when {{ outcome }} = 'relative' then 'relative_gap'
        when {{ outcome }} = 'percentile' then 'percentile_gap'
        when {{ kind }} = 'label' then 'rank_gap'
        when {{ kind }} = 'ranking' then 'place_gap'
        else 'score_gap'
    end
{%- endmacro %}

{#- A score as people write it: 31,200 or 3.12. -#}
{% macro amount_of(score) -%}
    if({{ score }} >= 1000, printf('%,d', cast(round({{ score }}) as bigint)), printf('%.3g', {{ score }}))
{%- endmacro %}
