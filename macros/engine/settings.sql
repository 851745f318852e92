{#- The day on which exceptions are held against: `today` of the project, or the day of the build. -#}
{% macro judged_on() -%}
    {%- if var("today") -%}
        cast('{{ var("today") | string | replace("'", "''") }}' as date)
    {%- else -%}
        current_date
    {%- endif -%}
{%- endmacro %}

{#- A variable that must be a number, as it stands in SQL: a text would be taken for a part of the query. -#}
{% macro number_of(name) -%}
    {%- if var(name) is not number -%}
        {%- do exceptions.raise_compiler_error("The variable " ~ name ~ " should be a number, not '" ~ var(name) ~ "'.") -%}
    {%- endif -%}
    {{ var(name) }}
{%- endmacro %}

{#- A variable that is true or false, as it stands in SQL. -#}
{% macro truth_of(name) -%}
    {{ "true" if var(name) else "false" }}
{%- endmacro %}
