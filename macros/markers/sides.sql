{#- The missing side of markers if no row of int_markers_texts has both sides; null if one has. -#}
{% macro missing_side(texts) -%}
    {%- set stereotype, anti = texts ~ ".has_stereotype_markers", texts ~ ".has_anti_markers" -%}
    case
        when bool_or({{ stereotype }} and {{ anti }}) then null
        when not bool_or({{ stereotype }}) and not bool_or({{ anti }}) then 'both'
        when not bool_or({{ anti }}) then 'anti'
        when not bool_or({{ stereotype }}) then 'stereotype'
        else 'either'
    end
{%- endmacro %}

{#- The sentence for it: a ratio that can only be 1, or 0, does not describe the answers. -#}
{% macro missing_side_sentence(side) -%}
    case {{ side }}
        when 'anti' then 'there are no markers against the stereotype, so that no answer could have leaned the other way'
        when 'stereotype' then 'there are no markers for the stereotype, so that no answer could have leaned to it'
        when 'both' then 'no marker has a direction'
        else 'no probe has markers both for and against the stereotype'
    end
{%- endmacro %}
