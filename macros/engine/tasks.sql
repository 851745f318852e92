{#-
    Call before the query of a model with slow rows. DuckDB gives a thread 122,880 rows at a time, so one thread would
    cut 20,000 texts while others wait; this setting makes it 2,048. Only the order of the model's rows changes. Return
    the setting's name. It belongs to a connection, and dbt opens one for each model. It is meant for DuckDB's own
    tests; versions without it stay as they are.
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
