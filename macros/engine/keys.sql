{#- A readable-length key over columns: null and empty stay apart, the same on every machine. -#}
{% macro key_of(columns) -%}
    md5(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}

{#- A number in a key: its shortest text, which an engine may spell in a way of its own. -#}
{% macro text_of_number(column) -%}
    {{ adapter.dispatch("text_of_number", "biasledger")(column) }}
{%- endmacro %}

{% macro default__text_of_number(column) -%}
    cast({{ column }} as varchar)
{%- endmacro %}

{% macro sparksession__text_of_number(column) -%}
    text_of_number({{ column }})
{%- endmacro %}

{#- The same as a 64-bit integer, for keys of large tables. -#}
{% macro integer_key_of(columns) -%}
    md5_number_lower(concat_ws(chr(31), {% for column in columns %}coalesce(cast({{ column }} as varchar), chr(30)){{ ", " if not loop.last }}{% endfor %}))
{%- endmacro %}

{#-
    What rows hold, in whatever order they come, as a number. DuckDB's hash of several values is that of all but the last, xor that of the
    last: of these sums alone, changes of the last column cancel in pairs. Hashed once more they do not. Two rows that are equal cancel:
    where there may be such, their number belongs next to it.
-#}
{% macro fingerprint_of(columns) -%}
    bit_xor(hash(hash({{ columns | join(", ") }})))
{%- endmacro %}

{#-
    Return the key of dim_contrasts: the groups that a run compares. Pass the columns that the relation lacks:
    contrast_id(group_name="'(all)'").
-#}
{% macro contrast_id(relation="") -%}
    {%- set prefix = relation ~ "." if relation else "" -%}
    {%- set columns = [] -%}
    {%- for column in ["run_id", "mitigation", "attribute", "group_name", "reference_group"] -%}
        {%- do columns.append(kwargs.get(column, prefix ~ column)) -%}
    {%- endfor -%}
    {{ key_of(columns) }}
{%- endmacro %}
