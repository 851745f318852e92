{#-
    Return the methods to build, in order: those of the variable `methods`, or the part that BIASLEDGER_METHODS names.
    `with_output`: only methods whose entry lists this output; some outputs are models, int_<method>_<with_output>.
-#}
{% macro methods(with_output=none) -%}
    {%- set named = env_var("BIASLEDGER_METHODS", "").split() -%}
    {%- set found = [] -%}
    {%- for method, outputs in var("methods").items() -%}
        {%- if (not named or method in named) and (not with_output or with_output in outputs) -%}
            {%- do found.append(method) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do return(found) -%}
{%- endmacro %}

{#-
    The audit's alarm, which a test in tests/dbt/alarms is: fails on the alarms of one method and severity level that are not
    accepted. The failing rows are stored, so that they can be queried after the build. It depends only on fct_alarms, because
    dbt also runs a test if only some of its tables are selected.
-#}
{% macro unaccepted_alarms(method, level) -%}
    {{ config(tags=["alarm"], store_failures=true, schema="alarms", severity=level) }}
    {%- if method in var("methods") %}{{ config(enabled=method in methods()) }}{% endif %}
select *
from {{ ref("fct_alarms") }}
where
    severity = '{{ level }}'
    and not is_excepted
    and measure in (
        select measures.measure
        from {{ graph.nodes["model.biasledger.dim_measures"].relation_name if execute }} as measures
        where measures.method = '{{ method }}'
    )
{%- endmacro %}

{#- Whether all tables that a test reads were built: dbt also runs a test where only some of them are selected, but not in
    `biasledger build`. -#}
{% macro are_built() -%}
    {%- if var("built_methods", none) is not none -%}
        {{ return(true) }}
    {%- endif -%}
    {%- for node in model.depends_on.nodes if execute and node in graph.nodes -%}
        {%- set one = graph.nodes[node] -%}
        {%- if adapter.get_relation(one.database, one.schema, one.alias) is none -%}
            {{ return(false) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(true) }}
{%- endmacro %}
