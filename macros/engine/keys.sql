{#- A readable-length key over columns: null and empty stay apart, the same on every machine. -#}
{% macro key_of(columns) -%}
    md5(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}

{#- The same as a 64-bit integer, for keys of large tables. -#}
{% macro integer_key_of(columns) -%}
    md5_number_lower(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}

{#- Who is compared with whom in a run, as one key: dim_contrasts says what it stands for. -#}
{% macro contrast_id(relation="") -%}
    {%- set prefix = relation ~ "." if relation else "" -%}
    {{ key_of([
        prefix ~ "run_id", prefix ~ "variant", prefix ~ "attribute", prefix ~ "group_name", prefix ~ "reference_group",
    ]) }}
{%- endmacro %}
