{#-
    An item's name as a catalogue is searched for it: lower case without accents, punctuation and outer spaces. A name that this would
    leave nothing of is compared as it was written.
-#}
{% macro catalogue_name(item) -%}
    coalesce(
        nullif(
            trim(regexp_replace(replace(lower(strip_accents({{ item }})), '&', ' and '), '[^\p{L}\p{N}]+', ' ', 'g')), ''
        ),
        lower(trim({{ item }}))
    )
{%- endmacro %}
