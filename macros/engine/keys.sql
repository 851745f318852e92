{#- A readable-length key over columns: null and empty stay apart, the same on every machine. -#}
{% macro key_of(columns) -%}
    md5(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}

{#- The same as a 64-bit integer, for keys of large tables. -#}
{% macro integer_key_of(columns) -%}
    md5_number_lower(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}
