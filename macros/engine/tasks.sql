{#-
    For a hook before a model that takes long for each row. DuckDB gives a thread a row group of 122,880 rows at a time, so that one thread
    would cut 20,000 texts while others wait; so it gives them 2,048. What a model makes is the same but for the order of its rows. The
    setting is of a connection, and dbt opens one for each model. It is meant for DuckDB's own tests, and a version without it does without.
-#}
{% macro small_tasks() -%}
    {%- if execute and target.type == "duckdb" -%}
        {%- set known = run_query("select 1 from duckdb_functions() where function_name = 'verify_parallelism'") -%}
        {%- if known.rows -%} pragma verify_parallelism {%- endif -%}
    {%- endif -%}
{%- endmacro %}
