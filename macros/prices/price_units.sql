{#- What a price comparison counts and what has to grow: names, first words of pairs or, where a group is one word, templates. -#}
{% macro price_units(comparisons) -%}
    case
        when {{ comparisons }}.unit_kind = 'words' then 'templates'
        when {{ comparisons }}.kind = 'same' then 'first words a group'
        else 'names or words a group'
    end
{%- endmacro %}
