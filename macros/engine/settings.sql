{#- The day for which exceptions are valid or expired: `today` of the project, or the day of the build. -#}
{% macro judged_on() -%}
    {%- if var("today") -%}
        cast('{{ var("today") | string | replace("'", "''") }}' as date)
    {%- else -%}
        current_date
    {%- endif -%}
{%- endmacro %}

{#- A variable that must be a number, as SQL; a text would become part of the query. -#}
{% macro number_of(name) -%}
    {%- if var(name) is not number -%}
        {%- do exceptions.raise_compiler_error("The variable " ~ name ~ " should be a number, not '" ~ var(name) ~ "'.") -%}
    {%- endif -%}
    {{ var(name) }}
{%- endmacro %}

{#- A variable that is true or false, as SQL. -#}
{% macro truth_of(name) -%}
    {{ "true" if var(name) else "false" }}
{%- endmacro %}
