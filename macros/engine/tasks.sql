{#-
    For a model that takes long for each row, before its query. DuckDB gives a thread a row group of 122,880 rows at a time, so that one
    thread would cut 20,000 texts while others wait; so it gives them 2,048. What a model makes is the same but for the order of its rows.
    The setting, whose name comes back, is of a connection, and dbt opens one for each model. It is meant for DuckDB's own tests, and
    where a version does not have it nothing is set.
-#}
{% macro small_tasks() -%}
    {%- if execute and target.type == "duckdb" -%}
        {%- set known = run_query("select function_name from duckdb_functions() where function_name = 'verify_parallelism'") -%}
        {%- for row in known.rows -%}
            {%- do run_query("pragma " ~ row[0]) -%}
            {{ return(row[0]) }}
        {%- endfor -%}
    {%- endif -%}
    {{ return("") }}
{%- endmacro %}
