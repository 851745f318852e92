{#-
    Schemas are named for what they hold (staging, intermediate, marts, settings, alarms). In a project of yours that has this one as a
    package, your own generate_schema_name names them, or else the schema of your target is their prefix, unless it is DuckDB's `main`.
    `biasledger build` gives `built_methods`; its readers know the names without prefix.
-#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set own = context.get(project_name, {}).get("generate_schema_name") if project_name != "biasledger" -%}
    {%- if var("built_methods", none) is none and own -%}
        {{ own(custom_schema_name, node) }}
    {%- elif not custom_schema_name -%}
        {{ target.schema }}
    {%- else -%}
        {{ target.schema ~ "_" if target.schema != "main" and var("built_methods", none) is none }}{{ custom_schema_name | trim }}
    {%- endif -%}
{%- endmacro %}
