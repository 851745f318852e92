{# Every model is made again as a whole, whatever it is called: nothing of an earlier build is read. #}
{% macro made_on_spark() -%}
    {{ run_hooks(pre_hooks) }}
    {%- set relation = this.incorporate(type="table") -%}
    {%- if model.language == "python" -%}
        {%- do adapter.make_by_python(relation, compiled_code) -%}
    {%- else -%}
        {%- do adapter.make_table(relation, compiled_code) -%}
    {%- endif -%}
    {%- do adapter.hand_back(relation, model) -%}
    {%- call noop_statement("main", "OK") -%} {{ compiled_code }} {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {%- do return({"relations": [relation]}) -%}
{%- endmacro %}

{% materialization rebuilt, adapter="sparksession", supported_languages=["sql", "python"] %}
    {{ return(made_on_spark()) }}
{% endmaterialization %}

{% materialization by_run, adapter="sparksession", supported_languages=["sql", "python"] %}
    {{ return(made_on_spark()) }}
{% endmaterialization %}

{% materialization table, adapter="sparksession", supported_languages=["sql", "python"] %}
    {{ return(made_on_spark()) }}
{% endmaterialization %}

{% materialization incremental, adapter="sparksession", supported_languages=["sql", "python"] %}
    {{ return(made_on_spark()) }}
{% endmaterialization %}

{% materialization view, adapter="sparksession" %}
    {%- set relation = this.incorporate(type="view") -%}
    {%- do adapter.make_view(relation, compiled_code) -%}
    {%- call noop_statement("main", "OK") -%} {{ compiled_code }} {%- endcall -%}
    {{ return({"relations": [relation]}) }}
{% endmaterialization %}

{% materialization seed, adapter="sparksession" %}
    {%- set relation = this.incorporate(type="table") -%}
    {%- set rows, types = load_agate_table(), {} -%}
    {%- for name in rows.column_names -%}
        {%- do types.update({name: config.get("column_types", {}).get(name, adapter.convert_type(rows, loop.index0))}) -%}
    {%- endfor -%}
    {%- do adapter.make_seed(relation, model, types) -%}
    {%- do store_result("agate_table", response="OK", agate_table=rows) -%}
    {%- call noop_statement("main", "OK") -%} {{ model.original_file_path }} {%- endcall -%}
    {{ return({"relations": [relation]}) }}
{% endmaterialization %}

{# Results that tests store, and tables that dbt makes to learn types. #}
{% macro sparksession__create_table_as(temporary, relation, compiled_code, language="sql") -%}
    {%- do adapter.make_table(relation, compiled_code) -%}
    select 1 as made
{%- endmacro %}

{% macro sparksession__create_view_as(relation, sql) -%}
    {%- do adapter.make_view(relation, sql) -%}
    select 1 as made
{%- endmacro %}
