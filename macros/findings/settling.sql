{#- How many more units would settle a row of `stated` in fct_findings, as a sentence; null for a verdict that is settled. -#}
{% macro settling_sentence() -%}
    case
        when n_units_needed is not null
            then printf('About %s %s would settle it; ', {{ thousands("n_units_needed") }}, counted)
                || {{ there_are("n_units") }}
        when status <> 'inconclusive' then null
        -- A value past the threshold that may be chance does not show how many answers would settle it.
        when is_past_threshold then printf('More %s would settle it; how many cannot be estimated yet.', counted)
        when abs(abs(centre) - clear_threshold) < clear_threshold / 10
            then printf('More %s alone would hardly settle it: it lies too close to the threshold.', counted)
        when n_units_estimated > 100 * n_units
            then printf('More than a hundred times as many %s would be needed to settle it; ', counted)
                || {{ there_are("n_units") }}
        else printf('More %s would settle it; how many cannot be estimated yet.', counted)
    end
{%- endmacro %}

{#- How many units there are, as the end of a sentence. -#}
{% macro there_are(n) -%}
    if({{ n }} = 1, 'there is 1.', 'there are ' || {{ thousands(n) }} || '.')
{%- endmacro %}
