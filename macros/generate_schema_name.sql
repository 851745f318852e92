{#-
    Schemas are named for what they hold (staging, intermediate, marts, settings, alarms). As a package, they get your target's schema
    as a prefix, unless it is `main`. Your own generate_schema_name takes precedence. `biasledger build` (`built_methods`) adds no
    prefix, because its readers know the names.
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
