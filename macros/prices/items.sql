{#- An item's name as a catalogue is searched for it: lower case without accents, punctuation and outer spaces; nothing is cut off. -#}
{% macro catalogue_name(item) -%}
    trim(regexp_replace(replace(lower(strip_accents({{ item }})), '&', ' and '), '[^\p{L}\p{N}]+', ' ', 'g'))
{%- endmacro %}
