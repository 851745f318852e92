{#- The units of a price comparison, which more data would add: names, first words of pairs or, if a group is one word, templates. -#}
{% macro price_units(comparisons) -%}
    case
        when {{ comparisons }}.unit_kind = 'words' then 'templates'
        when {{ comparisons }}.kind = 'same' then 'first words a group'
        else 'names or words a group'
    end
{%- endmacro %}
