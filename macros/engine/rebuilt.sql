{# A table that is made anew in its place, in one statement, with its contract's columns and its comments. dbt's own `table` makes
   another one, swaps the two and describes each column in turn; that is for tables which others read meanwhile, and these are in a work
   file that nobody else may open. A failure rolls back, so that the old table stays. Its columns are those of the contract, by name and
   type; that a query gives these and no others is settled before a release, so that only a build by hand looks. #}
{% materialization rebuilt, adapter="duckdb", supported_languages=["sql"] %}
    {%- set target = this.incorporate(type="table") -%}
    {%- set existing = load_cached_relation(this) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if existing is not none and existing.type != "table" %}
        {%- call statement("drop") -%} drop {{ existing.type }} if exists {{ existing }} {%- endcall -%}
    {%- endif -%}
    {%- call statement("main") -%}
        {{ made_anew(target, compiled_code) }}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({"relations": [target]}) }}
{% endmaterialization %}

{# The statements that make a table in its place: with its contract's columns and its comments, or as the query gives them. #}
{% macro made_anew(target, query) -%}
    {%- if config.get("contract").enforced -%}
        {%- if not env_var("BIASLEDGER_PUBLISHED", "") %}{{ get_assert_columns_equivalent(query) }}{% endif %}
        create or replace table {{ target }} {{ get_table_columns_and_constraints() }};
        insert into {{ target }} {{ get_column_names() }} ({{ get_select_subquery(query) }});
        {{ comments_on(target) }}
    {%- else -%}
        create or replace table {{ target }} as ({{ query }})
    {%- endif -%}
{%- endmacro %}

{# Comment on a table and its columns if dbt is to persist the descriptions. The contract makes sure that no column is absent. #}
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
