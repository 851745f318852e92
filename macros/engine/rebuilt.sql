{# A table that is replaced in one statement, which a failure rolls back. dbt's own `table` builds a second table and swaps
   the two, for readers that the work file does not have. Columns are checked by our tests, so `biasledger build` skips the
   check. #}
{% materialization rebuilt, adapter="duckdb", supported_languages=["sql"] %}
    {%- set target = this.incorporate(type="table") -%}
    {%- set existing = load_cached_relation(this) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if existing is not none and existing.type != "table" %}
        {%- call statement("drop") -%} drop {{ existing.type }} if exists {{ existing }} {%- endcall -%}
    {%- endif -%}
    {%- call statement("main") -%}
        {{ replace_table(target, compiled_code) }}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({"relations": [target]}) }}
{% endmaterialization %}

{# The statements that replace a table: with its contract's columns and its comments, or with the query's columns. #}
{% macro replace_table(target, query) -%}
    {%- if config.get("contract").enforced -%}
        {%- if not env_var("BIASLEDGER_PUBLISHED", "") %}{{ get_assert_columns_equivalent(query) }}{% endif %}
        create or replace table {{ target }} {{ get_table_columns_and_constraints() }};
        insert into {{ target }} {{ get_column_names() }} ({{ get_select_subquery(query) }});
        {{ comments_on(target) }}
    {%- else -%}
        create or replace table {{ target }} as ({{ query }})
    {%- endif -%}
{%- endmacro %}

{# Comment on a table and its columns if dbt is to persist the descriptions. The contract requires each column. #}
{% macro comments_on(relation) -%}
    {%- if config.persist_relation_docs() and model.description -%}
        {{ alter_relation_comment(relation, model.description) }}
    {%- endif -%}
    {%- if config.persist_column_docs() -%}
        {%- for column in model.columns.values() if column.description %}
            comment on column {{ relation }}.{{ adapter.quote(column.name) if column.quote else column.name }} is {{ duckdb_escape_comment(column.description) }};
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
