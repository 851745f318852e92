{# A build replaces the rows of the runs that int_build_runs names; the model reads only these runs, by `run_rows`.
   The table is rebuilt completely when dbt is run by hand, when the model has a hook, and after a failed build.
   Both happen in one statement, which a failure rolls back. #}
{% materialization by_run, adapter="duckdb", supported_languages=["sql"] %}
    {%- set target = this.incorporate(type="table") -%}
    {%- set existing = load_cached_relation(this) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {%- if existing is not none and existing.type != "table" %}
        {%- call statement("drop") -%} drop {{ existing.type }} if exists {{ existing }} {%- endcall -%}
    {%- endif -%}
    {%- call statement("main") -%}
        {% if is_built_by_run() -%}
            delete from {{ target }} where run_id in ({{ build_runs() }});
            insert into {{ target }} by name (select * from ({{ compiled_code }}) where run_id in ({{ build_runs() }}))
        {%- else -%}
            {{ replace_table(target, compiled_code) }}
        {%- endif %}
    {%- endcall -%}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {%- do adapter.commit() -%}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({"relations": [target]}) }}
{% endmaterialization %}

{#- The rows of the runs to build if the model is built by run, else the whole table. -#}
{% macro run_rows(name) -%}
    {#- Both refs are always called, so that dbt knows both dependencies. -#}
    {%- set rows = ref(name) -%}
    {%- set runs = build_runs() -%}
    {%- if is_built_by_run() -%}
        (select * from {{ rows }} where run_id in ({{ runs }}))
    {%- else -%}
        {{ rows }}
    {%- endif -%}
{%- endmacro %}

{#- The runs whose rows are out of date. -#}
{% macro build_runs() -%}
    select run_id from {{ ref("int_build_runs") }} where why <> 'same'
{%- endmacro %}

{#-
    Return whether the table's rows of other runs are up to date: the last build was complete, and only the ledger has changed
    since. `biasledger build` then sets BIASLEDGER_INCREMENTAL. Not with hooks, which would see old rows again.
-#}
{% macro is_built_by_run() -%}
    {%- if not execute or this is none or should_full_refresh() or not env_var("BIASLEDGER_INCREMENTAL", "") -%}
        {{ return(false) }}
    {%- endif -%}
    {%- if model.config.get("pre-hook") or model.config.get("post-hook") or config.get("materialized") not in ["by_run", "rebuilt"] -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set existing = load_cached_relation(this) -%}
    {{ return(existing is not none and existing.type == "table") }}
{%- endmacro %}

{#- Override dbt's macro: tests of a table built by run check only the runs of this build. -#}
{% macro get_where_subquery(relation) -%}
    {%- set conditions = [] -%}
    {%- if config.get("where") -%}
        {%- do conditions.append("(" ~ config.get("where") ~ ")") -%}
    {%- endif -%}
    {%- set tested = graph.nodes[model.attached_node] if execute and model.attached_node else none -%}
    {%- if tested and tested.config.materialized == "by_run" -%}
        {%- set build_runs = graph.nodes["model.biasledger.int_build_runs"].relation_name -%}
        {%- do conditions.append("run_id in (select run_id from " ~ build_runs ~ " where why <> 'same')") -%}
    {%- endif -%}
    {%- if conditions -%}
        {{ return("(select * from " ~ relation ~ " where " ~ conditions | join(" and ") ~ ") as tested") }}
    {%- endif -%}
    {{ return(relation) }}
{%- endmacro %}

{#-
    dbt's incremental strategy `by_state`, for Python models: delete rows of outdated states, insert the new ones. States are those of
    int_build_runs, or of the model that the meta `states` names, with the settings of the build, as `rows_of_runs` writes them.
-#}
{% macro get_incremental_by_state_sql(arguments) -%}
    {#- A strategy runs after dbt has collected the refs. -#}
    {%- set states = graph.nodes["model.biasledger." ~ config.get("meta", {}).get("states", "int_build_runs")].relation_name -%}
    {%- set settings = env_var("BIASLEDGER_SETTINGS", "") or invocation_id -%}
    delete from {{ arguments.target_relation }} where run_state is null or run_state not in (
        select concat_ws(' ', run_state, '{{ settings }}') from {{ states }} where run_state is not null
    );
    insert into {{ arguments.target_relation }} by name (select * from {{ arguments.temp_relation }})
{%- endmacro %}
